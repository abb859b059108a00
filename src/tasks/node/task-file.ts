/** The files of one task: its record, whose first line says all that counting and tending need, and the end of its lease. */

import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isObject } from '../../base/json.ts'
import { isGone, type ProcessMark, processMark } from '../../files/lock-file.ts'
import { readPrivate, readPrivateStart, removePrivate, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { headOf, isSameLease, type TaskHead, type TaskLease, type TaskRecord } from '../../protocol/interfaces/task-record.ts'
import { isFinal } from '../../protocol/model/tasks.ts'

/** The first line of a file: the process that took the task, and the task without its content. The second line is the whole task. */
export interface TaskFileHead {
  format: 2
  process: ProcessMark & { run: string }
  head: TaskHead
}

/** Larger than any task: its result, its answers and steps, and its params have limits of their own. */
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Enough for the first line of most files, and of every file. */
const HEAD_BYTES = [4096, 256 * 1024] as const

/** Enough for every lease. */
const MAX_LEASE_BYTES = 4096

/** Distinguishes this process from an earlier one with the same process id. */
const RUN = randomUUID()

const NEW_LINE = 10

export const ownMark = (): TaskFileHead['process'] => ({ ...processMark(), run: RUN })

/** Whether the process that runs a task is gone for sure. Otherwise its lease decides. */
export const hasEnded = (mark: TaskFileHead['process']): boolean =>
  isGone(mark) || (mark.pid === process.pid && mark.machine === ownMark().machine && mark.run !== RUN)

/** The content of a task's file. */
export function bytesOf(task: TaskRecord, mark: TaskFileHead['process']): Uint8Array {
  const head: TaskFileHead = { format: 2, process: mark, head: headOf(task) }
  const bytes = new TextEncoder().encode(`${JSON.stringify(head)}\n${JSON.stringify(task)}`)
  if (bytes.indexOf(NEW_LINE) < HEAD_BYTES[1]) return bytes
  throw new McpError('ERR_STORE', `The names in a task take more than ${HEAD_BYTES[1]} bytes`)
}

/** Undefined: there is no such file. Throws ERR_STORE for a file that is damaged or of another format. */
export async function readHead(file: string): Promise<TaskFileHead | undefined> {
  const read = await readFirstLine(file)
  return read && { ...read.line, head: await withNewestLease(file, read.line.head) }
}

/** The size of the file, and the account of its task. The account is undefined for a damaged file. Undefined: there is no such file. */
export async function readUse(file: string): Promise<{ account: string | undefined; bytes: number } | undefined> {
  try {
    const read = await readFirstLine(file)
    return read && { account: read.line.head.account, bytes: read.size }
  } catch {
    const bytes = await sizeOf(file)
    return bytes === undefined ? undefined : { account: undefined, bytes }
  }
}

/** The size of a file; undefined if the file does not exist. */
export const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  )

/** Like `readHead`, also for the whole task. */
export async function readTask(file: string): Promise<TaskRecord | undefined> {
  const bytes = await readPrivate(file, MAX_FILE_BYTES)
  if (bytes === undefined) return undefined
  const end = bytes.indexOf(NEW_LINE)
  parsedHead(file, bytes.subarray(0, Math.max(0, end)))
  return withNewestLease(file, parsed(file, bytes.subarray(end + 1)) as unknown as TaskRecord)
}

/** Keeps the end of a lease beside the task, because a process changes it often and a task can be large. */
export const writeLease = (file: string, lease: TaskLease): Promise<void> =>
  writePrivate(leaseFileOf(file), new TextEncoder().encode(JSON.stringify(lease)))

export const removeLease = (file: string): Promise<void> => removePrivate(leaseFileOf(file))

const leaseFileOf = (file: string): string => `${file}.lease`

/** The lease beside a task counts if it is of the same process and epoch. A damaged one is ignored: the task has a lease, too. */
async function withNewestLease<Task extends TaskHead>(file: string, task: Task): Promise<Task> {
  if (isFinal(task)) return task
  const lease = await readLease(leaseFileOf(file)).catch(() => undefined)
  return lease && isSameLease(lease, task.lease) && typeof lease.until === 'number' ? { ...task, lease } : task
}

async function readLease(file: string): Promise<TaskLease | undefined> {
  const bytes = await readPrivate(file, MAX_LEASE_BYTES)
  return bytes && (parsed(file, bytes) as unknown as TaskLease)
}

async function readFirstLine(file: string): Promise<{ line: TaskFileHead; size: number } | undefined> {
  for (const length of HEAD_BYTES) {
    const read = await readPrivateStart(file, length)
    if (read === undefined) return undefined
    const end = read.start.indexOf(NEW_LINE)
    if (end >= 0) return { line: parsedHead(file, read.start.subarray(0, end)), size: read.size }
  }
  throw new McpError('ERR_STORE', `${file} is not a task: expected a first line of at most ${HEAD_BYTES[1]} bytes`)
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
