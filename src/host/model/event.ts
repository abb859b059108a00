/** Events of a host. */

import type { LogMessage } from '../../protocol/model/logging.ts'
import type { Health } from './health.ts'
import type { EntryKind } from './offering.ts'
import type { Review } from './review.ts'

/** A log message of the protocol, or one line that the server process wrote to standard error. */
export type ServerLog = { kind: 'message'; message: LogMessage } | { kind: 'stderr'; line: string }

/** An event of a host. `onEvent` of the host options receives it. */
export type HostEvent =
  | { kind: 'health'; server: string; health: Health }
  /** A part of the server's offering is not in use because it is not approved. */
  | { kind: 'review'; review: Review }
  /** The catalog changed. `kinds` are the lists with changes. */
  | { kind: 'catalog'; kinds: ReadonlySet<EntryKind> }
  | { kind: 'log'; server: string; log: ServerLog }
  | { kind: 'warning'; server?: string; text: string }
