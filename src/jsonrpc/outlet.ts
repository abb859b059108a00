/**
 * An outlet: where everything about one incoming message is written. Each message arrives with its own outlet, so that
 * answers are never routed by an id that the peer chose.
 */

import type { KeptText } from './kept-text.ts'
import type { RequestMessage } from './message.ts'

/** What a transport measures about an incoming message, for records. */
export interface Arrival {
  /** The size of the message. Undefined if a replica with an older version received the message. */
  bytes: number | undefined
  /** The address of the sender. */
  address: string | undefined
}

export interface Outlet {
  /**
   * Writes a notification or request that belongs to the exchange. If it returns a promise, wait for it before the next push.
   * @param question the id of the request, if its answer may come another way
   */
  push(json: string, question?: string): undefined | Promise<void>
  /** The id for the next request to the peer, where the numbers of one process are not unique. */
  questionId?(): string
  /**
   * Writes the answer, which is the last message.
   * @param errorCode set if the answer is an error
   * @param retryAfterS set if the request could not be tried, and may be sent again after so many seconds
   */
  answer(json: string, errorCode?: number, retryAfterS?: number): void
  /** Writes the answer as `head`, `kept` and `tail`, so that the bytes of `kept` can be reused. */
  answerKept?(head: string, kept: KeptText, tail: string): void
  /** Ends a cancelled exchange without an answer. */
  drop(): void
  /** False where only the answer can be written, so that the peer cannot be asked anything. */
  readonly canPush?: boolean
  /** The transport's knowledge about the sender of this message. The layers above define its type. */
  readonly sender?: unknown
  /** Set if requests are recorded and the transport measures them. */
  readonly arrival?: Arrival | undefined
  /** The outlet of one request in a batch, in front of `batch`, which collects all answers. Set if requests are recorded. */
  partOf?(request: RequestMessage, batch: Outlet): Outlet
  /** Allows the peer to disconnect and fetch the answer later, if the transport supports it. */
  release?(): void
}
