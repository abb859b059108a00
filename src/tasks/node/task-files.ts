/** A store of tasks in a folder: one folder per owner, one file per task. */

import { createHash } from 'node:crypto'
import { rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Turns } from '../../base/turns.ts'
import { watchValue } from '../../base/watch-value.ts'
import { withLockFile } from '../../files/lock-file.ts'
import { codeOf, privateFolder, removePrivate, sweep, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { expiryOf, isSameLease, type TaskHead, type TaskLease, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { CreateRefusal, TaskCaps, TaskStore } from '../../protocol/interfaces/task-store.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import type { FileTaskStoreLimits } from '../file-task-store.ts'
import { FolderUse } from './folder-use.ts'
import { allTasks, headsOf, namesIn, tasksIn } from './read-folder.ts'
import { bytesOf, hasEnded, ownMark, readHead, readTask, removeLease, writeLease } from './task-file.ts'

/** Attempts to create a task while other processes remove the empty folder of its owner. */
const CREATE_ATTEMPTS = 10

const LOCK_LIMITS = { lockTimeoutMs: 15_000, lockStaleMs: 5000 }

/** Temporary files of a process that was killed. A running process needs them for moments. */
const TEMPORARY_MS = 60_000

/** Ids come from clients and become names of files. */
const TASK_ID = /^[\w-]{1,64}$/

export class TaskFiles implements TaskStore {
  readonly isShared = true
  readonly #folder: string
  /** The operations of this process with the same name. */
  readonly #turns = new Turns()
  readonly #use: FolderUse
  #isSwept = false

  constructor(folder: string, limits: FileTaskStoreLimits) {
    this.#folder = folder
    this.#use = new FolderUse(folder, limits)
  }

  /** Not locked, because the file is new: processes that create tasks at the same moment may exceed the limits by one each. */
  create(task: TaskRecord, { perAccount, total }: TaskCaps): Promise<CreateRefusal | undefined> {
    return this.#turns.take('create', async () => {
      await this.#use.look()
      if (this.#use.tasks >= total) return 'store-full'
      if (this.#use.tasksOf(task.account) >= perAccount) return 'account-full'
      const file = this.#fileOf(task.owner, task.taskId)
      await this.#write(file, task, ownMark(), (bytes) => this.#add(file, task.owner, bytes))
      return undefined
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
      await this.#write(file, task, mark, (bytes) => writePrivate(file, bytes))
      if (isFinal(task)) await removeLease(file)
      return true
    })
  }

  async renew(owner: string, taskId: string, lease: TaskLease): Promise<boolean> {
    if (!TASK_ID.test(taskId)) return false
    const file = this.#fileOf(owner, taskId)
    return this.#locked(file, async () => {
      const { head } = (await readHead(file)) ?? {}
      if (!head || isFinal(head) || !isSameLease(head.lease, lease)) return false
      await writeLease(file, lease)
      return true
    })
  }

  async remove(owner: string, taskId: string): Promise<void> {
    if (!TASK_ID.test(taskId)) return
    const file = this.#fileOf(owner, taskId)
    await this.#locked(file, async () => {
      await removeLease(file)
      await removePrivate(file)
    })
    this.#use.forget(file)
    // Fails while there are other tasks. In turn, because a creation needs the folder.
    await this.#turns.take('create', () => rmdir(this.#folderOf(owner)).catch(() => {}))
  }

  async list(owner: string): Promise<TaskHead[]> {
    const files = await headsOf(await tasksIn(this.#folderOf(owner)))
    return files.map(({ head }) => head).sort((a, b) => a.createdAt - b.createdAt || (a.taskId < b.taskId ? -1 : 1))
  }

  async neglected(now: number): Promise<TaskHead[]> {
    await this.#sweepOnce()
    const all = await headsOf(await allTasks(this.#folder))
    return all
      .filter(({ head, process: mark }) => expiryOf(head) <= now || (!isFinal(head) && (head.lease.until <= now || hasEnded(mark))))
      .map(({ head }) => head)
  }

  /** Looks at the file now and then: notices of file systems are not reliable everywhere. */
  watch(owner: string, taskId: string, listener: () => void): () => void {
    const file = this.#fileOf(owner, taskId)
    return watchValue(() => stampOf(file), listener)
  }

  /** Writes the file of a task. Throws ERR_LIMIT if there is no room for it. */
  async #write(file: string, task: TaskRecord, mark: ReturnType<typeof ownMark>, act: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const bytes = bytesOf(task, mark)
    await this.#use.write(file, { account: task.account, bytes: bytes.length, isEnd: isFinal(task) }, () => act(bytes))
  }

  /** Adds a file to the folder of its owner, which other processes may remove when it is empty. */
  async #add(file: string, owner: string, bytes: Uint8Array): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await privateFolder(this.#folder)
        await privateFolder(this.#folderOf(owner))
        return await writePrivate(file, bytes)
      } catch (error) {
        const isFolderGone = error instanceof McpError && codeOf(error.cause) === 'ENOENT'
        if (!isFolderGone || attempt === CREATE_ATTEMPTS) throw error
      }
    }
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
    return this.#turns.take(file, async () => {
      try {
        return await withLockFile(`${file}.lock`, LOCK_LIMITS, run)
      } catch (error) {
        // The folder of the owner is gone, and with it the task.
        if (error instanceof McpError && codeOf(error.cause) === 'ENOENT') return await run()
        throw error
      }
    })
  }
}

async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    return `${ino} ${mtimeNs} ${size}`
  } catch {
    return 'none'
  }
}
