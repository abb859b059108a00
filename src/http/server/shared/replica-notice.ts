/** The messages that replicas send to each other. Types only. */

import type { Incoming, Params } from '../../../jsonrpc/message.ts'
import type { Access } from '../../../protocol/interfaces/access.ts'
import type { Change } from '../../../protocol/interfaces/replaceable-services.ts'
import type { Refusal } from '../refusal.ts'

/** A POST of the oldest transport that reached a replica without its stream. */
export interface PassedPost {
  /** The id of the session. */
  id: string
  message: Incoming
  principal: string | undefined
  access: Access
}

export type ReplicaNotice =
  /** A notification of a client, for its requests at the other replica. */
  | { kind: 'notice'; sid: string; method: string; params: Params }
  /** A client reads the stream of a request, or has left it. Later readers have higher numbers. */
  | { kind: 'reader'; sid: string; stream: string; reader: number; isThere: boolean }
  /** A session has ended. */
  | { kind: 'end'; sid: string }
  | { kind: 'change'; change: Change }
  /** A replica has ended, and has left its requests to others. */
  | { kind: 'left' }
  /** A POST for the replica that has its stream. `n` is its number at the replica `from`. */
  | ({ kind: 'legacy'; from: string; n: number } & PassedPost)
  /** Answers the POST with this number. */
  | { kind: 'legacy answer'; n: number; refusal: Refusal | undefined }
