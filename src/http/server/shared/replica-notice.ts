/** The messages that replicas send to each other. Types only. */

import type { Change } from '../../../protocol/interfaces/replaceable-services.ts'

export type ReplicaNotice =
  /** A notification of a client, for its requests at the other replica. */
  | { kind: 'notice'; sid: string; json: string }
  /** A session has ended. */
  | { kind: 'end'; sid: string }
  | { kind: 'change'; change: Change }
  /** A replica has ended, and has left its requests to others. */
  | { kind: 'left' }
