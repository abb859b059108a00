/**
 * The place where everything about one inbound message is written. Each message arrives with its own, so an
 * answer never has to find its way by an id that the other side chose.
 */

import type { KeptText } from './kept-text.ts'

export interface Outlet {
  /** Writes a notification or request that belongs to the exchange. A promise asks the producer to wait. */
  push(json: string): undefined | Promise<void>
  /** Writes the one answer; nothing follows. `errorCode` is set when the answer is an error. */
  answer(json: string, errorCode?: number): void
  /** The same for an answer most of which was written before: `head`, then `kept`, then `tail`. */
  answerKept?(head: string, kept: KeptText, tail: string): void
  /** Ends the exchange without an answer: it was cancelled. */
  drop(): void
  /** False where nothing but the answer can be written, so that it is no use to ask anything. */
  readonly canPush?: boolean
  /** What the transport has found out about whoever sent this very message; its meaning is settled above. */
  readonly sender?: unknown
  /** Lets the other side hang up and come back for the answer, where the transport has a way to. */
  release?(): void
}
