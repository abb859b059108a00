/** The parts of a console that its routes share. */

import type { Clock } from '../base/clock.ts'
import type { Conversation, Host, ServerSpec } from '../host/index.ts'
import type { Codes } from './access/codes.ts'
import type { Sessions } from './access/sessions.ts'
import type { OpenApps } from './apps/open-apps.ts'
import type { ConsoleAsker } from './asker.ts'
import type { Conversations } from './chat/conversations.ts'
import type { ModelTurns } from './chat/model-turns.ts'
import type { ChatModels } from './chat/models.ts'
import type { EventLog } from './event-log.ts'
import type { ConsoleFeed } from './feed.ts'
import type { ConsoleLimits } from './limits.ts'
import type { Operations } from './operations.ts'
import type { StoredPreferences } from './preferences.ts'
import type { SavedCalls } from './saved-calls.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { Recordings } from './timeline/recordings.ts'
import type { WrittenServers } from './written-servers.ts'

export interface ConsoleServices {
  host: Host
  asker: ConsoleAsker
  feed: ConsoleFeed
  events: EventLog
  operations: Operations
  conversations: Conversations
  /** Grants for what the person does by hand, until the console closes. */
  byHand: Conversation
  models: ChatModels
  modelTurns: ModelTurns
  subscriptions: Subscriptions
  /** The views of tools that pages show. */
  apps: OpenApps
  written: WrittenServers
  recordings: Recordings
  savedCalls: SavedCalls
  preferences: StoredPreferences
  tour: TourOptions & { onClose(close: () => Promise<void>): void }
  sessions: Sessions
  codes: Codes
  limits: ConsoleLimits
  /** Where to look for the servers of other clients. */
  imports: ImportPlaces
  clock: Clock
  port(): number
  /** Receives unexpected errors, which pages do not see. */
  onError(error: unknown): void
}

/** The sample server of the tour that turns hostile. */
export interface TourServer {
  readonly spec: ServerSpec
  /** Whether it has turned hostile. */
  readonly hasTurned: boolean
  /** How many things it would have sent away. */
  readonly received: number
  /** Makes it hostile now. */
  turn(): void
  close(): Promise<void>
}

/** The parts of the tour that a console cannot make itself. */
export interface TourOptions {
  /** Starts the sample server that turns hostile. Default: the tour has none. */
  startRogue?(): Promise<TourServer>
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
