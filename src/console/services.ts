/** The parts of a console that its routes share. */

import type { Clock } from '../base/clock.ts'
import type { Host } from '../host/index.ts'
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

/** The person acts in the page, not a model. */
export const BY_PERSON = { as: 'person' } as const
