/** What the parts of the store share. */

import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'
import type { SealedValues } from './sealed-values.ts'
import type { ReportUnreadable } from './unreadable.ts'

export interface RedisContext {
  connection: Connection
  keys: Keys
  values: SealedValues
  reportUnreadable: ReportUnreadable
  /** The longest life of a session that this replica has seen. What others need after a death of this replica lives as long. */
  longestLifeMs: number
}

export const textOf = (reply: unknown): string => (Buffer.isBuffer(reply) ? reply.toString() : String(reply))
