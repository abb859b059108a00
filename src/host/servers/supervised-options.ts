/** The options of a supervised server, and how its errors are judged. */

import type { Clock } from '../../base/clock.ts'
import type { Answers } from '../../client/answer-server.ts'
import type { ClientLimits } from '../../client/limits.ts'
import type { ErrorCode } from '../../protocol/errors.ts'
import type { Authorizer } from '../../protocol/interfaces/authorizer.ts'
import type { AroundRequest } from '../../protocol/interfaces/telemetry.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { ServerLog } from '../model/event.ts'
import type { Health } from '../model/health.ts'
import type { Offering } from '../model/offering.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { PermittedTransport } from './connect-server.ts'
import type { AllSupervisionLimits } from './limits.ts'
import type { ServerListing } from './listing.ts'
import type { TrafficLog } from './traffic.ts'

export interface SupervisedOptions {
  spec: ServerSpec
  /** Called before every start. Rejects, for example with ERR_DENIED or ERR_CONSENT, if the server may not be started. */
  permit(signal: AbortSignal): Promise<PermittedTransport>
  /** Whether `permit` asks no question. A start in the background that would ask waits for the first use. Default: true. */
  mayStart?(): Promise<boolean>
  /** Called after the connection is made: whether what runs is what was permitted. Default: true. */
  isAsPermitted?(): Promise<boolean>
  /** Answers to the requests of this server. */
  answers?: Answers
  auth?: Authorizer
  /** The name and version that the host gives to the server. */
  info?: Implementation
  /** Runs around every request to the server, for traces. */
  telemetry?: AroundRequest | undefined
  limits?: Partial<AllSupervisionLimits>
  clientLimits?: Partial<ClientLimits>
  clock?: Clock
  /** Removes secrets from the offering before it is stored or shown. */
  clean?(offering: Offering): Offering
  /** @see ReaderOptions */
  onItem?(item: object): void
  onHealth?(health: Health): void
  onListing?(listing: ServerListing): void
  onLog?(log: ServerLog): void
  /** Reports every message. Default: no one looks. */
  traffic?: TrafficLog | undefined
  onWarning?(message: string): void
}

/** Only a person can fix these errors. An automatic retry would ask them again and again. */
export const NEEDS_A_PERSON: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_DENIED',
  'ERR_CONSENT',
  'ERR_ANSWER_INVALID',
  'ERR_QUARANTINED',
  'ERR_SECRET',
  'ERR_CONFIG',
  'ERR_AUTH',
  'ERR_INSECURE',
])

/** After these errors the server may be gone, so it is pinged. */
export const SUSPICIOUS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_NETWORK',
  'ERR_HTTP',
  'ERR_NO_ENDPOINT',
  'ERR_SESSION_GONE',
  'ERR_TIMEOUT',
  'ERR_CLOSED',
])
