/** A lock that all processes share through a store. */

import { McpError } from '../../protocol/errors.ts'
import type { Counters } from '../../protocol/interfaces/counters.ts'

/** The part of a store that locks need: a store of portico/redis or portico/store has it. */
export interface LockingStore {
  readonly counters: Pick<Counters, 'lock' | 'extend' | 'unlock'>
}

/** How long others wait for a process that died with the lock. A process that lives extends it. */
const LOCK_MS = 10_000
const EXTEND_MS = 3000
const FIRST_LOOK_MS = 20
const LAST_LOOK_MS = 300

/**
 * Calls `run` while it holds the lock. A process that was stopped for longer than the life of the lock, or that lost the store, may run at
 * the same time as another one.
 */
export async function withSharedLock<T>({ counters }: LockingStore, key: string, waitMs: number, run: () => Promise<T>): Promise<T> {
  const token = await take(counters, key, waitMs)
  // A failure is repeated at the next turn. There are three in the life of the lock.
  const timer = setInterval(() => void counters.extend(key, token, LOCK_MS).catch(() => {}), EXTEND_MS)
  try {
    return await run()
  } finally {
    clearInterval(timer)
    // Otherwise it opens when its time is over.
    await counters.unlock(key, token).catch(() => {})
  }
}

async function take(counters: LockingStore['counters'], key: string, waitMs: number): Promise<string> {
  const end = performance.now() + waitMs
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LAST_LOOK_MS, pause * 2)) {
    const token = await counters.lock(key, LOCK_MS)
    if (token !== undefined) return token
    const left = end - performance.now()
    if (left <= 0) throw new McpError('ERR_TIMEOUT', `Another process held a lock of the store for ${waitMs} ms (limits.lockTimeoutMs)`)
    // Processes do not look at the same moment.
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, pause * (0.5 + Math.random() / 2))))
  }
}
