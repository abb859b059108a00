/** Warns about a Redis that removes keys when its memory is full: sessions, answers and tasks would be lost without a word. */

import { notices } from '../base/notices.ts'
import type { RedisClient } from './client-library.ts'
import { textOf } from './context.ts'

/** A user without the right to ask gets no warning. In a cluster one of the nodes is asked. */
export async function warnOfEviction(client: RedisClient): Promise<void> {
  const info = await client.callBuffer('INFO', 'memory').catch(() => null)
  const policy = /^maxmemory_policy:(\S+)/m.exec(textOf(info))?.[1]
  if (policy === undefined || policy === 'noeviction') return
  notices.write(
    'warn',
    `portico: Redis removes keys when its memory is full (maxmemory-policy ${policy}). Set it to noeviction: sessions would be lost`,
  )
}
