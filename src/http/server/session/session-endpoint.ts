/** What the endpoint needs from the part that serves the revisions with sessions. Types only. */

import type { Incoming } from '../../../jsonrpc/message.ts'
import type { Refusal } from '../refusal.ts'
import type { HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import type { HttpPost } from '../stateless.ts'

/** Each method answers the request, now or later, or returns a refusal for the caller to send. */
export interface SessionEndpoint {
  readonly size: number
  /** The methods for the header `Allow`. */
  readonly methods: string
  post(message: Incoming, post: HttpPost): Refusal | undefined
  get(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined
  delete(request: HttpRequestView, reply: HttpReply, principal: string | undefined): Refusal | undefined
  /** Ends the standing streams, so that clients reconnect elsewhere. */
  release(): void
  /** Resolves when other replicas may continue what ran here, if there are some. */
  endAll(reason: string): void | Promise<void>
}
