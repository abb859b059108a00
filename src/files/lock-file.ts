/**
 * A lock between processes: a file that only one process can create. The file names its holder, who renews its time. The lock of a dead
 * holder is taken over; the lock of a slow holder is not.
 */

import { randomUUID } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { link, open, readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { McpError } from '../protocol/errors.ts'
import { codeOf, kept } from './private-file.ts'

export interface LockLimits {
  /** How long to wait for the lock. */
  lockTimeoutMs: number
  /** A holder that has not renewed the lock for this long counts as dead. A holder whose process has ended does so at once. */
  lockStaleMs?: number
}

/** Long enough for a busy machine to renew its lock, which happens four times as often. */
const LOCK_STALE_MS = 10_000

const POLL_MS = 25

/** Runs `run` while holding the lock. ERR_TIMEOUT if another process holds it for too long. */
export async function withLockFile<T>(file: string, limits: LockLimits, run: () => Promise<T>): Promise<T> {
  const id = randomUUID()
  await kept(file, () => acquire(file, id, limits))
  const renewing = setInterval(
    () => void utimes(file, new Date(), new Date()).catch(() => {}),
    (limits.lockStaleMs ?? LOCK_STALE_MS) / 4,
  ).unref()
  try {
    return await run()
  } finally {
    clearInterval(renewing)
    // Unless another process has taken the lock over.
    const now = await seen(file).catch(() => undefined)
    if (now?.id === id) await rm(file, { force: true }).catch(() => {})
  }
}

async function acquire(file: string, id: string, { lockTimeoutMs, lockStaleMs = LOCK_STALE_MS }: LockLimits): Promise<void> {
  const started = performance.now()
  let last: Sighting | undefined
  let lastChange = started
  while (!(await create(file, { ...processMark(), id }))) {
    const now = performance.now()
    const sighting = await seen(file)
    // Measured with our own clock, which stops while the machine sleeps, not with the file's time, which others may set.
    if (sighting?.id !== last?.id || sighting?.mtimeMs !== last?.mtimeMs) lastChange = now
    last = sighting
    if (sighting && (isGone(sighting) || now - lastChange > lockStaleMs)) await takeAway(file, sighting, lockStaleMs)
    else if (now - started > lockTimeoutMs) {
      throw new McpError('ERR_TIMEOUT', `Another process has held ${file} for more than ${lockTimeoutMs} ms (lockTimeoutMs)`)
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

/**
 * False: the file already exists. The file gets its name when it is complete: a process that is killed leaves no lock without a
 * holder, for which others would have to wait.
 */
async function create(file: string, holder: Holder): Promise<boolean> {
  if (await seen(file)) return false
  const temporary = `${file}.${process.pid}.${randomUUID()}.tmp`
  await write(temporary, holder)
  try {
    await link(temporary, file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    if (!WITHOUT_LINKS.has(codeOf(error))) throw error
    return await write(file, holder).then(
      () => true,
      (second: unknown) => {
        if (codeOf(second) === 'EEXIST') return false
        throw second
      },
    )
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Errors of file systems that cannot give a file a second name. */
const WITHOUT_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR', 'UNKNOWN'])

async function write(file: string, holder: Holder): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(JSON.stringify(holder))
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

/** Undefined: the file no longer exists. */
async function seen(file: string): Promise<Sighting | undefined> {
  try {
    const { mtimeMs } = await stat(file)
    return { ...holderIn(await readFile(file, 'utf8')), mtimeMs }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Empty: on a file system without links, the holder is still writing the file, or died while writing it. */
function holderIn(text: string): Partial<Holder> {
  try {
    const { pid, machine, id } = JSON.parse(text) as Partial<Holder>
    return typeof pid === 'number' && pid > 0 && typeof id === 'string' ? { pid, id, ...(machine !== undefined && { machine }) } : {}
  } catch {
    return {}
  }
}

/** Whether the process with this mark has ended. False if that cannot be found out from here. */
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
 * If two processes find the same dead lock, the second must not remove the new lock of the first. So removing is guarded by a second
 * file, which exists only for that moment.
 */
async function takeAway(file: string, dead: Sighting, lockStaleMs: number): Promise<void> {
  const guard = `${file}.removing`
  if (!(await create(guard, { ...processMark(), id: randomUUID() }))) {
    const other = await seen(guard)
    // A process died during the removal.
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

/** Identifies the process namespace: process ids mean nothing outside it, and containers may share a folder and a host name. */
const MACHINE = `${hostname()} ${processNamespace()}`

/** Identifies this process while it runs. */
export const processMark = (): ProcessMark => ({ pid: process.pid, machine: MACHINE })

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
