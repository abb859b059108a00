/**
 * A lock that processes share: a file that only one can create. It says who holds it, and its time is renewed as long as
 * they do, so that a lock whose holder is gone is taken over and one whose holder is slow is not.
 */

import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { McpError } from '../protocol/errors.ts'
import { codeOf, kept } from './private-file.ts'

export interface LockLimits {
  /** How long to wait for another process that holds the lock. */
  lockTimeoutMs: number
  /** After how long without a sign of life its holder counts as gone; one whose process has ended does at once. */
  lockStaleMs: number
}

const POLL_MS = 25

/** Runs `run` while holding the lock. ERR_TIMEOUT when somebody else holds it for too long. */
export async function withLockFile<T>(file: string, limits: LockLimits, run: () => Promise<T>): Promise<T> {
  const id = randomUUID()
  await kept(file, () => acquire(file, id, limits))
  const renewing = setInterval(() => void utimes(file, new Date(), new Date()).catch(() => {}), limits.lockStaleMs / 4).unref()
  try {
    return await run()
  } finally {
    clearInterval(renewing)
    // Not if it was taken over: then it is somebody else's.
    const now = await seen(file).catch(() => undefined)
    if (now?.id === id) await rm(file, { force: true }).catch(() => {})
  }
}

async function acquire(file: string, id: string, { lockTimeoutMs, lockStaleMs }: LockLimits): Promise<void> {
  const started = performance.now()
  let last: Sighting | undefined
  let lastChange = started
  while (!(await create(file, { ...processMark(), id }))) {
    const now = performance.now()
    const sighting = await seen(file)
    // By our own clock, which stands still while the machine sleeps, and not by the time of the file, which another may set.
    if (sighting?.id !== last?.id || sighting?.mtimeMs !== last?.mtimeMs) lastChange = now
    last = sighting
    if (sighting && (isGone(sighting) || now - lastChange > lockStaleMs)) await takeAway(file, sighting, lockStaleMs)
    else if (now - started > lockTimeoutMs) {
      throw new McpError('ERR_TIMEOUT', `Another process holds ${file} for longer than ${lockTimeoutMs} ms (lockTimeoutMs)`)
    } else if (sighting) await sleep(POLL_MS)
  }
}

export interface ProcessMark {
  pid: number
  machine: string
}

interface Holder extends ProcessMark {
  id: string
}

type Sighting = Partial<Holder> & { mtimeMs: number }

/** False when it is there already. */
async function create(file: string, holder: Holder): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(JSON.stringify(holder))
    } catch (error) {
      await rm(file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Undefined when it is gone by now. */
async function seen(file: string): Promise<Sighting | undefined> {
  try {
    const { mtimeMs } = await stat(file)
    return { ...holderIn(await readFile(file, 'utf8')), mtimeMs }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Nothing when the holder is still writing, or died while it was. */
function holderIn(text: string): Partial<Holder> {
  try {
    const { pid, machine, id } = JSON.parse(text) as Partial<Holder>
    return typeof pid === 'number' && pid > 0 && typeof id === 'string' ? { pid, id, ...(machine !== undefined && { machine }) } : {}
  } catch {
    return {}
  }
}

/** Whether the process that signed with this mark has ended; false when it cannot be known from here. */
export function isGone({ pid, machine }: Partial<ProcessMark>): boolean {
  if (pid === undefined || machine !== MACHINE) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

/**
 * Two who find the same dead lock must not both remove what is there: the second would remove the lock of the first. So
 * removing is itself guarded, by a file that exists only for that moment.
 */
async function takeAway(file: string, dead: Sighting, lockStaleMs: number): Promise<void> {
  const guard = `${file}.removing`
  if (!(await create(guard, { ...processMark(), id: randomUUID() }))) {
    const other = await seen(guard)
    // Who died at this moment of all moments.
    if (other && (isGone(other) || Date.now() - other.mtimeMs > lockStaleMs)) await rm(guard, { force: true })
    return void (await sleep(POLL_MS))
  }
  try {
    const now = await seen(file)
    if (now && now.id === dead.id && now.mtimeMs === dead.mtimeMs) await rm(file, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

/** Process ids mean something in one process namespace of one machine: containers may share a folder and a host name. */
const MACHINE = `${hostname()} ${processNamespace()}`

/** What tells this process from others, as long as it runs. */
export const processMark = (): ProcessMark => ({ pid: process.pid, machine: MACHINE })

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
