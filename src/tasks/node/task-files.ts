/** The files of a task store: one folder per owner, one file per task. The first line of a file says all that counting and tending need. */

import { createHash, randomUUID } from 'node:crypto'
import { readdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import { isGone, type ProcessMark, processMark, withLockFile } from '../../files/lock-file.ts'
import { codeOf, kept, privateFolder, readPrivate, readPrivateStart, removePrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { expiryOf, type TaskHead, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { CreateRefusal, TaskCaps, TaskStore } from '../../protocol/interfaces/task-store.ts'
import { requestedTask } from '../../protocol/model/kept-task.ts'
import { isFinal } from '../../protocol/model/tasks.ts'

/** The first line of a file: the process that took the task, and the task without its content. The second line is the whole task. */
interface TaskFileHead {
  format: 2
  process: ProcessMark & { run: string }
  head: TaskHead
}

/** Larger than any task: its result, its answers and steps, and its params have limits of their own. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Enough for the first line of most files, and of every file. */
const HEAD_BYTES = [4096, 256 * 1024] as const

/** How many files to read at the same time. */
const READERS = 16

/** Attempts to create a task while other processes remove the empty folder of its owner. */
const CREATE_ATTEMPTS = 10

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
  /** The accounts of tasks, by file. They never change. */
  readonly #accounts = new Map<string, string>()
  #isSwept = false

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Not locked, because the file is new: processes that create tasks at the same moment may exceed the limits by one each. */
  create(task: TaskRecord, { perAccount, total }: TaskCaps): Promise<CreateRefusal | undefined> {
    return this.#inTurn('create', async () => {
      if ((await this.#count()) >= total) return 'store-full'
      if ((await this.#countOf(task, total)) >= perAccount) return 'account-full'
      const file = this.#fileOf(task.owner, task.taskId)
      const bytes = bytesOf(task, ownMark())
      for (let attempt = 1; ; attempt++) {
        try {
          await privateFolder(this.#folder)
          await privateFolder(this.#folderOf(task.owner))
          await writePrivate(file, bytes)
          return undefined
        } catch (error) {
          const isFolderGone = error instanceof McpError && codeOf(error.cause) === 'ENOENT'
          if (!isFolderGone || attempt === CREATE_ATTEMPTS) throw error
        }
      }
    })
  }

  async read(owner: string, taskId: string): Promise<TaskRecord | undefined> {
    return TASK_ID.test(taskId) ? await readTask(this.#fileOf(owner, taskId)) : undefined
  }

  async head(owner: string, taskId: string): Promise<TaskHead | undefined> {
    return TASK_ID.test(taskId) ? (await readHead(this.#fileOf(owner, taskId)))?.head : undefined
  }

  async replace(task: TaskRecord): Promise<boolean> {
    const file = this.#fileOf(task.owner, task.taskId)
    return this.#locked(file, async () => {
      const before = await readHead(file)
      if (before?.head.edition !== task.edition - 1) return false
      const mark = before.head.lease.epoch === task.lease.epoch ? before.process : ownMark()
      await writePrivate(file, bytesOf(task, mark))
      return true
    })
  }

  async remove(owner: string, taskId: string): Promise<void> {
    const file = this.#fileOf(owner, taskId)
    await this.#locked(file, () => removePrivate(file))
    this.#accounts.delete(file)
    // Fails while there are other tasks. In turn, because a creation needs the folder.
    await this.#inTurn('create', () => rmdir(this.#folderOf(owner)).catch(() => {}))
  }

  async list(owner: string): Promise<TaskHead[]> {
    const files = await headsOf(await tasksIn(this.#folderOf(owner)))
    return files.map(({ head }) => head).sort((a, b) => a.createdAt - b.createdAt || (a.taskId < b.taskId ? -1 : 1))
  }

  async neglected(now: number): Promise<TaskHead[]> {
    await this.#sweepOnce()
    const all = await headsOf((await this.#files()).flat())
    return all
      .filter(({ head, process: mark }) => expiryOf(head) <= now || (!isFinal(head) && (head.lease.until <= now || hasEnded(mark))))
      .map(({ head }) => head)
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

  /** The files of each owner. */
  async #files(): Promise<string[][]> {
    const owners = (await namesIn(this.#folder)).filter(isOwner)
    return Promise.all(owners.map((name) => tasksIn(join(this.#folder, name))))
  }

  async #count(): Promise<number> {
    return (await this.#files()).flat().length
  }

  /** The number of tasks of an account. Reads only files that it does not know. */
  async #countOf({ owner, account }: TaskRecord, total: number): Promise<number> {
    // Other processes may have removed most of these files.
    if (this.#accounts.size > 2 * total) this.#accounts.clear()
    const files = await tasksIn(this.#folderOf(owner))
    const unknown = files.filter((file) => !this.#accounts.has(file))
    for (const { head } of await headsOf(unknown)) this.#accounts.set(this.#fileOf(owner, head.taskId), head.account)
    return files.filter((file) => this.#accounts.get(file) === account).length
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

const NEW_LINE = 10

const ownMark = (): TaskFileHead['process'] => ({ ...processMark(), run: RUN })

/** Whether the process that runs a task is gone for sure. Otherwise its lease decides. */
const hasEnded = (mark: TaskFileHead['process']): boolean =>
  isGone(mark) || (mark.pid === process.pid && mark.machine === ownMark().machine && mark.run !== RUN)

/** The head of a task. Of its outcome it keeps only the text of an error that a tool reported. */
function headOf(task: TaskRecord): TaskHead {
  const { params: _, caller: __, questions: ___, received: ____, journal: _____, outcome, ...head } = task
  if (!outcome || !('result' in outcome) || outcome.result.isError !== true) return head
  const { statusMessage: text } = requestedTask(task)
  return { ...head, outcome: { result: { isError: true, content: [{ type: 'text', text }] } } }
}

const bytesOf = (task: TaskRecord, mark: TaskFileHead['process']): Uint8Array => {
  const head: TaskFileHead = { format: 2, process: mark, head: headOf(task) }
  const bytes = new TextEncoder().encode(`${JSON.stringify(head)}\n${JSON.stringify(task)}`)
  if (bytes.indexOf(NEW_LINE) < HEAD_BYTES[1]) return bytes
  throw new McpError('ERR_STORE', `The names in a task take more than ${HEAD_BYTES[1]} bytes`)
}

/** Undefined: there is no such file. Throws ERR_STORE for a file that is damaged or of another format. */
async function readHead(file: string): Promise<TaskFileHead | undefined> {
  for (const length of HEAD_BYTES) {
    const bytes = await readPrivateStart(file, length)
    if (bytes === undefined) return undefined
    const end = bytes.indexOf(NEW_LINE)
    if (end >= 0) return parsedHead(file, bytes.subarray(0, end))
  }
  throw new McpError('ERR_STORE', `${file} is not a task: expected a first line of at most ${HEAD_BYTES[1]} bytes`)
}

async function readTask(file: string): Promise<TaskRecord | undefined> {
  const bytes = await readPrivate(file, MAX_FILE_BYTES)
  if (bytes === undefined) return undefined
  const end = bytes.indexOf(NEW_LINE)
  parsedHead(file, bytes.subarray(0, Math.max(0, end)))
  return parsed(file, bytes.subarray(end + 1)) as unknown as TaskRecord
}

function parsedHead(file: string, bytes: Uint8Array): TaskFileHead {
  const { format, process: mark, head } = parsed(file, bytes)
  if (format === 2 && isObject(head) && isObject(mark)) return { format, process: mark, head } as unknown as TaskFileHead
  throw new McpError('ERR_STORE', `${file} is not a task: expected format 2 with a head and a process`)
}

function parsed(file: string, bytes: Uint8Array): Record<string, unknown> {
  try {
    const read = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
    if (isObject(read)) return read
    throw new Error('expected an object')
  } catch (cause) {
    throw new McpError('ERR_STORE', `${file} is not a task: ${(cause as Error).message}`, { cause })
  }
}

/** The heads in files, a few at a time. A damaged file is left out here; reading its task reports it. */
async function headsOf(files: readonly string[]): Promise<TaskFileHead[]> {
  const heads: (TaskFileHead | undefined)[] = []
  const rest = files.values()
  const read = async (): Promise<void> => {
    for (const file of rest) heads.push(await readHead(file).catch(() => undefined))
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return heads.filter((head) => head !== undefined)
}

const tasksIn = async (folder: string): Promise<string[]> =>
  (await namesIn(folder)).filter((name) => name.endsWith('.json')).map((name) => join(folder, name))

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
