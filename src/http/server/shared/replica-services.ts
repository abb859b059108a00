/** What the parts of shared sessions have in common. Types only. */

import type { Clock } from '../../../base/clock.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { LogBounds } from '../../../store/stream-logs.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import type { InFlight } from '../limits/in-flight.ts'
import type { OpenStreams } from '../streams/open-streams.ts'
import type { KeptShares } from './kept-shares.ts'
import type { LateEnds } from './late-ends.ts'
import type { ReplicaMessages } from './replica-messages.ts'
import type { SharedPages } from './shared-pages.ts'
import type { StandingStreams } from './standing-stream.ts'
import type { Tails } from './tails.ts'

export interface ReplicaServices {
  service: Service
  store: SharedStore
  limits: AllHttpLimits
  inFlight: InFlight
  open: OpenStreams
  bounds: LogBounds
  shares: KeptShares
  tails: Tails
  standing: StandingStreams
  lateEnds: LateEnds
  pages: SharedPages
  messages: ReplicaMessages
  clock: Clock
  /** The next number of a batch. Each is higher than all before. */
  nextBatch(): number
  /** Reports an error that no client can be told. */
  report(error: unknown): void
}
