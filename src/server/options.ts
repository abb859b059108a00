/** The options of `createServer`. */

import type { Clock } from '../base/clock.ts'
import type { Members } from '../protocol/check-members.ts'
import type { Bus, KeyRing } from '../protocol/interfaces/replaceable-services.ts'
import type { Implementation } from '../protocol/model/base.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import type { ServerLimits } from './limits.ts'
import type { LoggingOptions } from './logging.ts'

/** Describes a failure whose text is not sent to the client. */
export interface Failure {
  /** The reference that the client got instead of the text. */
  reference: string
  /** The method of the request, such as `tools/call`. */
  method: string
  /** The tool, prompt or URI of the request. */
  target: string | undefined
}

/**
 * The identity and the behaviour of a server. Only `name` and `version` are required.
 *
 * @example
 * createServer({ name: 'weather', version: '1.0.0', instructions: 'Use forecast for any question about weather.' })
 */
export interface ServerOptions extends Implementation {
  /** Tells the model how to use the server. */
  instructions?: string
  /** The protocol revisions to speak. Default: all. */
  revisions?: readonly string[]
  /** The number of items on one page of a list. Default: 1000. */
  pageSize?: number
  /** How long clients may cache lists and the server description. Default: 60,000 ms, private. */
  listCache?: { ttlMs?: number; cacheScope?: 'public' | 'private' }
  /** Allows `/` in tool names. The specification advises against it, and some clients reject such tools. Default: false. */
  slashesInToolNames?: boolean
  /** Limits that differ from `DEFAULT_LIMITS`. */
  limits?: Partial<ServerLimits>
  /**
   * Options for log messages to clients. False: the server does not offer logging.
   * @deprecated by the newest revision, and may be removed from the protocol in a revision of 2027-07-28 or later. Use standard error or OpenTelemetry.
   */
  logging?: LoggingOptions | false
  /** The keys that encrypt the state which clients carry. Replicas of one server must share them: `keyRing(secret)`. Default: random keys for this process. */
  keys?: KeyRing
  /** Carries change notices between replicas of one server. Default: this process only. */
  bus?: Bus
  /** Non-standard capabilities to declare, by name. */
  experimental?: Record<string, Settings>
  /** Protocol extensions to declare, by name. */
  extensions?: Record<string, Settings>
  /**
   * Called for errors whose text is not sent to the client. Default: writes to standard error, with control characters escaped.
   *
   * @example
   * createServer({ name: 'weather', version: '1.0.0', onError: (error, { reference }) => logger.error({ reference }, error) })
   */
  onError?(error: unknown, failure: Failure): void
  /** The clock for timeouts and rates. Default: the system clock. Tests pass `fakeClock()`. */
  clock?: Clock
}

/** The names of all options of `createServer`. */
export const SERVER_MEMBERS: Members<ServerOptions> = {
  name: 1,
  version: 1,
  title: 1,
  description: 1,
  websiteUrl: 1,
  icons: 1,
  instructions: 1,
  revisions: 1,
  pageSize: 1,
  listCache: 1,
  slashesInToolNames: 1,
  limits: 1,
  logging: 1,
  keys: 1,
  bus: 1,
  experimental: 1,
  extensions: 1,
  onError: 1,
  clock: 1,
}
