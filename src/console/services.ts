/** The parts of a console that its routes share. */

import type { Clock } from '../base/clock.ts'
import type { AuditVerdict, Host } from '../host/index.ts'
import type { Codes } from './access/codes.ts'
import type { Sessions } from './access/sessions.ts'
import type { ConsoleAsker } from './asker.ts'
import type { Conversations } from './conversations.ts'
import type { EventLog } from './event-log.ts'
import type { ConsoleFeed } from './feed.ts'
import type { ConsoleLimits } from './limits.ts'
import type { Operations } from './operations.ts'
import type { PolicyInUse } from './policy-in-use.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface ConsoleServices {
  host: Host
  asker: ConsoleAsker
  feed: ConsoleFeed
  policy: PolicyInUse
  events: EventLog
  operations: Operations
  conversations: Conversations
  subscriptions: Subscriptions
  sessions: Sessions
  codes: Codes
  limits: ConsoleLimits
  /** Where to look for the servers of other clients. */
  imports: ImportPlaces
  /** Undefined: the console has no samples. */
  demo: ConsoleDemo | undefined
  clock: Clock
  port(): number
}

/** Where the configuration files of other clients are. */
export interface ImportPlaces {
  /** Default: the home directory of the user. */
  home?: string
  /** Default: the files of the user only. */
  project?: string
}

/** The samples of a console, for the tour of its page. `portico` gives its own. */
export interface ConsoleDemo {
  /** The ids of the sample servers. */
  samples(): readonly string[]
  /** Adds a server to the host that changes its tools after the first call. Resolves with its id. One that was added before is replaced. */
  addRogue(): Promise<string>
  /** How many pieces of data the rogue has received. Undefined: it was not added. */
  receivedByRogue(): Promise<number | undefined>
  /** Verifies a copy of the audit log in which one byte was changed. */
  verifyDamagedAudit(): Promise<AuditVerdict>
}

/** The person acts in the page, not a model. */
export const BY_PERSON = { as: 'person' } as const
