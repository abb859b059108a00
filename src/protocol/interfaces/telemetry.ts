/** The interface between Portico and a library for traces and metrics. `portico/opentelemetry` implements it. */

import type { Id, Params } from '../../jsonrpc/message.ts'
import type { TraceContext } from '../model/trace-context.ts'

/** What a client is connected to. */
export interface ConnectedTo {
  /** The protocol revision of the connection. */
  readonly revision: string
  /** The URL of a server over HTTP, without its query; undefined for other servers, and at the server. */
  readonly url: string | undefined
}

/** A request that a client is about to send, or a question that a server is about to ask. */
export interface OutgoingRequest extends ConnectedTo {
  readonly method: string
  readonly params: Params
}

/** A request that is about to be answered. At a client it is a question of the server. */
export interface ReceivedRequest {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** The protocol revision of the connection. */
  readonly revision: string
  /** The trace of its sender. */
  readonly trace: TraceContext | undefined
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** A function around every request of a client. It sends the request with the trace context that the server gets. */
export interface AroundRequest {
  /** `send` calls `onSent` with the id of each message that carries the request: a round of questions or a new session sends it again. */
  (request: OutgoingRequest, send: (trace?: TraceContext, onSent?: (id: Id) => void) => Promise<Params>): Promise<Params>
  /** Around every answer to a question of the server. */
  answer?(question: ReceivedRequest, answer: () => Promise<Params>): Promise<Params>
  /** Called when a session begins. The function that it returns is called when the session ends, with an error if one ended it. */
  session?(connected: ConnectedTo): (error?: Error) => void
}

/** An action that a host is about to decide about and to perform. */
export interface HostAction {
  /** The kind, such as `tool.call`. */
  readonly kind: string
  /** The name of the server. */
  readonly server: string
  /** The tool, resource or prompt, if the action is about one. */
  readonly target: string | undefined
  /** Who wants the action. */
  readonly initiator: string
}

/** A function around every action of a host, from the decision to the result. */
export type AroundAction = <T>(action: HostAction, run: () => Promise<T>) => Promise<T>

/** Traces and metrics of a host: of its actions, and of the requests to its servers. */
export interface HostTelemetry {
  readonly action: AroundAction
  readonly request: AroundRequest
}
