/** The tasks of all hosts of a user: one file each, which only the owner can read. One process at a time follows a task and writes its file. */

import { randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { type FileFormat, readFormat, writeFormat } from '../../files/file-format.ts'
import { isGone, processMark, withLockFile } from '../../files/lock-file.ts'
import { codeOf, kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { SHORT_ID } from '../storage/short-id.ts'
import { type Follower, hasEnded, keptUntil, type TaskRecord } from './task-record.ts'

const TASK_FORMAT: FileFormat = { version: 1, upgrades: [(file) => file] }
const END = '.json'
/** A file with this ending asks the process that follows the task to cancel it. */
const CANCEL = '.cancel'
const LOCK_LIMITS = { lockTimeoutMs: 15_000, lockStaleMs: 5_000 }
const LEFT_OVER_MS = 60_000
/** A follower on another machine that was not seen for this long is gone. It renews its mark three times as often. */
export const FOLLOWER_GONE_MS = 60_000

export interface TaskFileLimits {
  /** Stored tasks. The oldest that have ended are removed. */
  maxTasks: number
  /** Bytes of one task. */
  maxTaskBytes: number
}

/** Not an option: people oversee fewer. Tests make them small. */
const TASK_FILE_LIMITS: TaskFileLimits = { maxTasks: 200, maxTaskBytes: 16 * 1024 * 1024 }

/** Options for `openTasks`. */
export interface TaskFilesOptions {
  folder: string
  /** Limits that differ from the defaults. */
  limits?: Partial<TaskFileLimits>
  /** Milliseconds of the wall clock. Default: the system time. */
  now?(): number
  /** Called once for each version of a file that cannot be read. */
  onWarning?(text: string): void
}

/** The stored tasks of all hosts of a folder, for programs without a host. */
export interface StoredTasks {
  /** All stored tasks, the newest first. */
  list(): Promise<TaskRecord[]>
  /** Undefined if there is no such task, or its file cannot be read. */
  read(id: string): Promise<TaskRecord | undefined>
  /** Whether another process follows the task now. */
  isFollowedElsewhere(record: Pick<TaskRecord, 'follower'>): boolean
  /** Asks the process that follows the task to cancel it. */
  requestCancel(id: string): Promise<void>
}

/**
 * Opens the stored tasks of a folder, for programs without a host.
 * @example
 * const tasks = openTasks({ folder: join(hostFolder(), STORAGE_PATHS.tasks) })
 * for (const { id, tool, status } of await tasks.list()) console.log(id, tool, status)
 */
export const openTasks = (options: TaskFilesOptions): StoredTasks => new TaskFiles(options)

export class TaskFiles implements StoredTasks {
  /** Marks the tasks that this process follows. */
  readonly token = randomUUID()
  readonly #folder: string
  readonly #limits: TaskFileLimits
  readonly #now: () => number
  readonly #onWarning: (text: string) => void
  /** The files as they were read last. */
  readonly #known = new Map<string, { edition: string; record: TaskRecord | undefined }>()
  #cancelled: ReadonlySet<string> = new Set()

  constructor({ folder, limits, now = Date.now, onWarning = () => {} }: TaskFilesOptions) {
    this.#folder = folder
    this.#limits = { ...TASK_FILE_LIMITS, ...limits }
    this.#now = now
    this.#onWarning = onWarning
  }

  /** All stored tasks, the newest first. A file that cannot be read is reported once and left out. */
  async list(): Promise<TaskRecord[]> {
    const names = await this.#names()
    this.#cancelled = new Set(idsIn(names, CANCEL))
    const ids = idsIn(names, END)
    for (const id of [...this.#known.keys()]) if (!ids.includes(id)) this.#known.delete(id)
    const records = await Promise.all(ids.map((id) => this.read(id)))
    return records.filter((record) => record !== undefined).sort((one, other) => other.startedAt - one.startedAt)
  }

  /** Undefined if there is no such task, or its file cannot be read. */
  async read(id: string): Promise<TaskRecord | undefined> {
    if (!SHORT_ID.test(id)) return undefined
    const file = this.#fileOf(id)
    const found = await stat(file, { bigint: true }).catch(() => undefined)
    if (!found) return undefined
    const edition = `${found.ino} ${found.size} ${found.mtimeNs}`
    const known = this.#known.get(id)
    if (known?.edition === edition) return known.record
    const record = await this.#parsed(id)
    this.#known.set(id, { edition, record })
    return record
  }

  /** @throws McpError ERR_LIMIT if so many tasks run that there is no room for one more */
  async makeRoom(): Promise<void> {
    const { maxTasks } = this.#limits
    const records = await this.list()
    const now = this.#now()
    const ended = records.filter(hasEnded)
    const stale = ended.filter((record, at) => keptUntil(record) < now || records.length - ended.length + at >= maxTasks - 1)
    for (const { id } of stale) await this.remove(id)
    if (records.length - ended.length >= maxTasks)
      throw new McpError('ERR_LIMIT', `${maxTasks} tasks are running: cancel some of them, or wait (maxTasks)`)
  }

  async write(record: TaskRecord): Promise<void> {
    const bytes = new TextEncoder().encode(`${JSON.stringify(writeFormat(record, TASK_FORMAT))}\n`)
    const { maxTaskBytes } = this.#limits
    if (bytes.byteLength > maxTaskBytes)
      throw new McpError(
        'ERR_LIMIT',
        `The task ${record.id} has ${bytes.byteLength} bytes, expected at most ${maxTaskBytes} (maxTaskBytes)`,
      )
    await privateFolder(this.#folder)
    await writePrivate(this.#fileOf(record.id), bytes)
  }

  async remove(id: string): Promise<void> {
    await removePrivate(this.#fileOf(id))
    await removePrivate(this.#cancelFile(id))
    this.#known.delete(id)
  }

  /** This process, as the follower of a task. */
  follower(): Follower {
    return { ...processMark(), token: this.token, seenAt: this.#now() }
  }

  /** Whether another process follows the task now. */
  isFollowedElsewhere({ follower }: Pick<TaskRecord, 'follower'>): boolean {
    if (!follower || follower.token === this.token) return false
    return !isGone(follower) && this.#now() - follower.seenAt < FOLLOWER_GONE_MS
  }

  /** Makes this process the follower of a task that no process follows. Undefined: another process was faster, or the task has ended. */
  async claim(id: string): Promise<TaskRecord | undefined> {
    await privateFolder(this.#folder)
    await sweep(this.#folder, LEFT_OVER_MS)
    return withLockFile(join(this.#folder, 'claim.lock'), LOCK_LIMITS, async () => {
      const record = await this.read(id)
      if (!record || hasEnded(record) || this.isFollowedElsewhere(record)) return undefined
      const claimed = { ...record, follower: this.follower() }
      await this.write(claimed)
      return claimed
    })
  }

  /** Asks the process that follows the task to cancel it. */
  async requestCancel(id: string): Promise<void> {
    await privateFolder(this.#folder)
    await writePrivate(this.#cancelFile(id), new Uint8Array())
  }

  /** Whether `requestCancel` was called, as of the last `list`. */
  isCancelRequested(id: string): boolean {
    return this.#cancelled.has(id)
  }

  async forgetCancel(id: string): Promise<void> {
    await removePrivate(this.#cancelFile(id))
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#folder)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      return kept(this.#folder, () => Promise.reject(error))
    }
  }

  async #parsed(id: string): Promise<TaskRecord | undefined> {
    const file = this.#fileOf(id)
    try {
      const bytes = await readPrivate(file, this.#limits.maxTaskBytes)
      if (!bytes) return undefined
      const { data } = readFormat(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), TASK_FORMAT)
      if (!isRecord(data) || data.id !== id) throw new Error('expected a task with id, server, tool, status and startedAt')
      const { version: _, ...record } = data as TaskRecord & { version: unknown }
      return record
    } catch (error) {
      this.#onWarning(`${file} is not a stored task: ${(error as Error).message}`)
      return undefined
    }
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}${END}`)
  }

  #cancelFile(id: string): string {
    return join(this.#folder, `${id}${CANCEL}`)
  }
}

const idsIn = (names: readonly string[], end: string): string[] =>
  names
    .filter((name) => name.endsWith(end))
    .flatMap((name) => (SHORT_ID.test(name.slice(0, -end.length)) ? [name.slice(0, -end.length)] : []))

const TEXTS = ['id', 'server', 'tool', 'status', 'fingerprint', 'project', 'initiator', 'conversation'] as const
const NUMBERS = ['startedAt', 'updatedAt', 'intent', 'maxBytes'] as const

const isRecord = (data: unknown): data is TaskRecord =>
  isObject(data) &&
  TEXTS.every((name) => typeof data[name] === 'string') &&
  NUMBERS.every((name) => Number.isSafeInteger(data[name])) &&
  Array.isArray(data.chain) &&
  isObject(data.args)
