/** The files of a task store: one folder per owner, one file per task. Each change replaces the file as a whole. */

import { createHash, randomUUID } from 'node:crypto'
import { readdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { isGone, type ProcessMark, processMark, withLockFile } from '../../files/lock-file.ts'
import { codeOf, kept, privateFolder, readPrivate, removePrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import { expiryOf, type TaskRecord } from '../../server/tasks/task-record.ts'
import type { CreateRefusal, TaskCaps, TaskStore } from '../../server/tasks/task-store.ts'

/** A file: the task, and the process that took it. */
interface TaskFile {
  format: 1
  process: ProcessMark & { run: string }
  task: TaskRecord
}

/** Larger than any task: its result, its answers and steps, and its params have limits of their own. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

const LOCK_LIMITS = { lockTimeoutMs: 15_000, lockStaleMs: 5000 }

/** How often to look for changes by other processes. */
const WATCH_MS = 250

/** Temporary files of a process that was killed. A running process needs them for moments. */
const TEMPORARY_MS = 60_000

/** Ids come from clients and become names of files. */
const TASK_ID = /^[\w-]{1,64}$/

/** Distinguishes this process from an earlier one with the same process id. */
const RUN = randomUUID()

export class TaskFiles implements TaskStore {
  readonly isShared = true
  readonly #folder: string
  /** The last operation with each name in this process. */
  readonly #last = new Map<string, Promise<unknown>>()
  #isSwept = false

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Not locked, because the file is new: processes that create tasks at the same moment may exceed the limits by one each. */
  create(task: TaskRecord, { perAccount, total }: TaskCaps): Promise<CreateRefusal | undefined> {
    return this.#inTurn('create', async () => {
      await privateFolder(this.#folder)
      await privateFolder(this.#folderOf(task.owner))
      if ((await this.#count()) >= total) return 'store-full'
      const ofAccount = (await this.#filesIn(this.#folderOf(task.owner))).filter(({ task: each }) => each.account === task.account)
      if (ofAccount.length >= perAccount) return 'account-full'
      await writePrivate(this.#fileOf(task.owner, task.taskId), bytesOf(task, ownMark()))
      return undefined
    })
  }

  async read(owner: string, taskId: string): Promise<TaskRecord | undefined> {
    return TASK_ID.test(taskId) ? (await readTask(this.#fileOf(owner, taskId)))?.task : undefined
  }

  async replace(task: TaskRecord): Promise<boolean> {
    const file = this.#fileOf(task.owner, task.taskId)
    return this.#locked(file, async () => {
      const before = await readTask(file)
      if (before?.task.edition !== task.edition - 1) return false
      const mark = before.task.lease.epoch === task.lease.epoch ? before.process : ownMark()
      await writePrivate(file, bytesOf(task, mark))
      return true
    })
  }

  async remove(owner: string, taskId: string): Promise<void> {
    const file = this.#fileOf(owner, taskId)
    await this.#locked(file, () => removePrivate(file))
    // Fails while there are other tasks.
    await rmdir(this.#folderOf(owner)).catch(() => {})
  }

  async list(owner: string): Promise<TaskRecord[]> {
    const files = await this.#filesIn(this.#folderOf(owner))
    return files.map(({ task }) => task).sort((a, b) => a.createdAt - b.createdAt || (a.taskId < b.taskId ? -1 : 1))
  }

  async neglected(now: number): Promise<TaskRecord[]> {
    await this.#sweepOnce()
    const all = await this.#all()
    return all
      .filter(({ task, process: mark }) => expiryOf(task) <= now || (!isFinal(task) && (task.lease.until <= now || hasEnded(mark))))
      .map(({ task }) => task)
  }

  /** Looks at the file now and then: notices of file systems are not reliable everywhere. */
  watch(owner: string, taskId: string, listener: () => void): () => void {
    const file = this.#fileOf(owner, taskId)
    let last: string | undefined
    const timer = setInterval(() => {
      void stampOf(file).then((stamp) => {
        if (last !== undefined && stamp !== last) listener()
        last = stamp
      })
    }, WATCH_MS).unref()
    void stampOf(file).then((stamp) => {
      last ??= stamp
    })
    return () => clearInterval(timer)
  }

  async #all(): Promise<TaskFile[]> {
    const owners = await namesIn(this.#folder)
    const files = await Promise.all(owners.filter(isOwner).map((name) => this.#filesIn(join(this.#folder, name))))
    return files.flat()
  }

  async #count(): Promise<number> {
    const folders = (await namesIn(this.#folder)).filter(isOwner)
    const names = await Promise.all(folders.map((name) => namesIn(join(this.#folder, name))))
    return names.flat().filter(isTask).length
  }

  /** The tasks in a folder. A damaged file is left out here; reading its task reports it. */
  async #filesIn(folder: string): Promise<TaskFile[]> {
    const names = (await namesIn(folder)).filter(isTask)
    const files = await Promise.all(names.map((name) => readTask(join(folder, name)).catch(() => undefined)))
    return files.filter((file) => file !== undefined)
  }

  /** Removes what processes left behind that were killed while writing. */
  async #sweepOnce(): Promise<void> {
    if (this.#isSwept) return
    this.#isSwept = true
    await privateFolder(this.#folder)
    for (const name of await namesIn(this.#folder)) await sweep(join(this.#folder, name), TEMPORARY_MS).catch(() => {})
  }

  #folderOf(owner: string): string {
    return join(this.#folder, createHash('sha256').update(owner).digest('hex').slice(0, 32))
  }

  #fileOf(owner: string, taskId: string): string {
    return join(this.#folderOf(owner), `${taskId}.json`)
  }

  #locked<T>(file: string, run: () => Promise<T>): Promise<T> {
    return this.#inTurn(file, async () => {
      try {
        return await withLockFile(`${file}.lock`, LOCK_LIMITS, run)
      } catch (error) {
        // The folder of the owner is gone, and with it the task.
        if (error instanceof McpError && codeOf(error.cause) === 'ENOENT') return await run()
        throw error
      }
    })
  }

  /** Runs operations with the same name one after the other. */
  async #inTurn<T>(name: string, run: () => Promise<T>): Promise<T> {
    const own = (this.#last.get(name) ?? Promise.resolve()).then(run)
    const settled = own.catch(() => {})
    this.#last.set(name, settled)
    try {
      return await own
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name)
    }
  }
}

const isOwner = (name: string): boolean => /^[0-9a-f]{32}$/.test(name)

const isTask = (name: string): boolean => name.endsWith('.json')

const ownMark = (): TaskFile['process'] => ({ ...processMark(), run: RUN })

/** Whether the process that runs a task is gone for sure. Otherwise its lease decides. */
const hasEnded = (mark: TaskFile['process']): boolean =>
  isGone(mark) || (mark.pid === process.pid && mark.machine === ownMark().machine && mark.run !== RUN)

const bytesOf = (task: TaskRecord, mark: TaskFile['process']): Uint8Array => {
  const file: TaskFile = { format: 1, process: mark, task }
  return new TextEncoder().encode(JSON.stringify(file))
}

/** Undefined: there is no such file. Throws ERR_STORE for a file that is damaged or of a newer format. */
async function readTask(file: string): Promise<TaskFile | undefined> {
  const bytes = await readPrivate(file, MAX_FILE_BYTES)
  if (bytes === undefined) return undefined
  try {
    const read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
    if (isObject(read) && read.format === 1 && isObject(read.task) && isObject(read.process)) return read as unknown as TaskFile
    throw new Error('expected format 1 with a task and a process')
  } catch (cause) {
    throw new McpError('ERR_STORE', `${file} is not a task: ${(cause as Error).message}`, { cause })
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return kept(folder, async () => {
    try {
      return await readdir(folder)
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
      throw error
    }
  })
}

async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    return `${ino} ${mtimeNs} ${size}`
  } catch {
    return 'none'
  }
}
