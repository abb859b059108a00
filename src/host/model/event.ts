/** Events of a host. */

import type { LogMessage } from '../../protocol/model/logging.ts'
import type { TaskStatus } from '../../protocol/model/tasks.ts'
import type { Health } from './health.ts'
import type { EntryKind } from './offering.ts'
import type { Review } from './review.ts'

/** A log message of the protocol, or one line that the server process wrote to standard error. */
export type ServerLog = { kind: 'message'; message: LogMessage } | { kind: 'stderr'; line: string }

/** How much of a first offering is in use. */
export interface EnabledOffering {
  server: string
  tools: number
  prompts: number
  /** Resources and templates. */
  resources: number
  /** How many of the tools claim that they only read. */
  readOnly: number
  /** How many items need a warning. They stay out of use until the person approves them. */
  held: number
}

/** An event of a host. `onEvent` of the host options receives it. */
export type HostEvent =
  /** Servers were added, removed or changed. `ids` are the names of all. */
  | { kind: 'servers'; ids: readonly string[] }
  | { kind: 'health'; server: string; health: Health }
  /** The first offering of a server that the person enabled is in use, except for the part with warnings. */
  | ({ kind: 'enabled' } & EnabledOffering)
  /** A part of the server's offering is not in use because it is not approved. */
  | { kind: 'review'; review: Review }
  /** Definitions of a server were approved. `waiting`: how many still wait. */
  | { kind: 'approved'; server: string; waiting: number }
  /** The catalog changed. `kinds` are the lists with changes. */
  | { kind: 'catalog'; kinds: ReadonlySet<EntryKind> }
  | { kind: 'log'; server: string; log: ServerLog }
  /** A task began, changed or ended. `host.task(id)` has the details. */
  | { kind: 'task'; id: string; server: string; tool: string; status: TaskStatus }
  | { kind: 'warning'; server?: string; text: string }
