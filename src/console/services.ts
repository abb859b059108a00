/** The parts of a console that its routes share. */

import type { Clock } from '../base/clock.ts'
import type { Host } from '../host/index.ts'
import type { Codes } from './access/codes.ts'
import type { Sessions } from './access/sessions.ts'
import type { ConsoleAsker } from './asker.ts'
import type { Conversations } from './chat/conversations.ts'
import type { ModelTurns } from './chat/model-turns.ts'
import type { ChatModels } from './chat/models.ts'
import type { EventLog } from './event-log.ts'
import type { ConsoleFeed } from './feed.ts'
import type { ConsoleLimits } from './limits.ts'
import type { Operations } from './operations.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface ConsoleServices {
  host: Host
  asker: ConsoleAsker
  feed: ConsoleFeed
  events: EventLog
  operations: Operations
  conversations: Conversations
  models: ChatModels
  modelTurns: ModelTurns
  subscriptions: Subscriptions
  sessions: Sessions
  codes: Codes
  limits: ConsoleLimits
  /** Where to look for the servers of other clients. */
  imports: ImportPlaces
  /** Undefined: there is no sample server for the tour. */
  tour: ConsoleTour | undefined
  clock: Clock
  port(): number
  /** Receives unexpected errors, which pages do not see. */
  onError(error: unknown): void
}

/** Where the configuration files of other clients are. */
export interface ImportPlaces {
  /** Default: the home directory of the user. */
  home?: string
  /** Default: the files of the user only. */
  project?: string
}

/** The sample server for the tour of the page: it behaves well until it turns hostile. `portico` has one. */
export interface ConsoleTour {
  /** Undefined: it was not added, or it was removed. `received`: how many pieces of data it was given. */
  rogue(): { server: string; hasTurned: boolean; received: number } | undefined
  /** Starts it and adds it to the host. It replaces one that was added before. */
  addRogue(): Promise<void>
  /** Turns it hostile, as its first forecast does. */
  turnRogue(): void
  /** Removes it from the host and ends it. */
  removeRogue(): Promise<void>
}

/** The person acts in the page, not a model. */
export const BY_PERSON = { as: 'person' } as const
