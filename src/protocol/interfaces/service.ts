/** The interface between a transport and a server: the transport opens channels and passes messages in. */

import type { ErrorObject, Incoming, Params, RequestMessage } from '../../jsonrpc/message.ts'
import type { Outlet } from '../../jsonrpc/outlet.ts'
import type { Implementation } from '../model/base.ts'
import type { ClientCapabilities } from '../model/lifecycle.ts'
import type { LogLevel } from '../model/logging.ts'
import type { ParamHeader } from '../model/param-headers.ts'
import type { SubscriptionBounds } from '../subscription-bounds.ts'
import type { Change, KeyRing, SharedServices, SharedValues } from './replaceable-services.ts'

/** What all replicas of a server know about a session. It is JSON. */
export interface SessionState {
  version: string
  capabilities: ClientCapabilities
  client: Implementation
  logLevel: LogLevel
  /** Whether the client has sent `notifications/initialized`. */
  isReady: boolean
  /** Milliseconds since 1970. Only if the duration of sessions is measured. */
  begunAt?: number
  /** Subscribed URIs, each with the scopes of its subscriber. */
  subscriptions: Record<string, readonly string[]>
  /** The scopes of the last request that had some. */
  scopes?: readonly string[] | undefined
}

/** What a call has done so far, for another replica that runs it again. */
export interface CallJournal {
  /** The same in every run of the call. */
  readonly callId: string
  /**
   * Returns the answer that a run before got. Otherwise asks, and records the answer.
   *
   * @param send sends the question under this id. With `isSent` a run before has sent it, and only its answer is missing.
   */
  ask(name: string, request: unknown, send: (id: string, isSent: boolean) => Promise<Params>): Promise<Params>
  /** Returns the JSON that a run before has recorded. Otherwise runs the step, and records what it returns. */
  step(name: string, run: () => Promise<string>): Promise<string>
}

/** A session that several replicas serve. Each request gets a channel of its own. */
export interface SharedSession {
  /** Undefined before the handshake. */
  readonly state: SessionState | undefined
  /** Where the rates of a session without a principal are counted. */
  readonly account: string
  /** Called with the first state, before the handshake is answered. */
  begin(state: SessionState): void
  /**
   * Changes the state for all replicas.
   *
   * @param bounds how many subscriptions all sessions of the caller, and of all callers, may have. Rejects with ERR_LIMIT beyond that.
   */
  change(apply: (state: SessionState) => void, bounds?: SubscriptionBounds): Promise<void>
  /** Remembers a page that a person was sent to, with the notification that they have finished there. */
  openPage(elicitationId: string, json: string): Promise<void>
  /** Set if another replica may run the request of this channel again. */
  readonly journal?: CallJournal | undefined
}

/** What a server tells clients outside of their requests. A transport with shared sessions passes it on. */
export type Announcement =
  /** `versions`: the versions that have this change; all of them if it is undefined. */
  | { kind: 'change'; change: Change; versions?: readonly string[] }
  | { kind: 'log'; level: LogLevel; json: string }
  /** A person has finished with a page that this process does not know. */
  | { kind: 'page'; elicitationId: string }

/** How a transport opens a channel. */
export interface ChannelOptions {
  /** The outlet for messages that belong to no request. */
  outlet: Outlet
  /** The verified caller; undefined without authentication. */
  principal?: string | undefined
  /** Where the tasks of a caller without a principal are counted: its address. Default: the connection. */
  address?: string | undefined
  /** Set if only one client can reach the server this way, as on a pipe. */
  isPrivate?: true | undefined
  /** The version to use without a handshake, for a transport without sessions. */
  assumed?: string | undefined
  /**
   * Whether a second `initialize` starts a new session instead of being refused, for a pipe that several clients use one
   * after the other. Default: false.
   */
  beginsAnew?: boolean | undefined
  /** Set if other replicas serve this session, too. */
  shared?: SharedSession | undefined
  /** The answer to requests in progress when the server ends. Undefined where the end of the connection says it: they get no answer. */
  shutdownError?: ErrorObject | undefined
}

/** The server's side of one client connection: a stdio process, an in-memory pair or an HTTP session. */
export interface Channel {
  /** Handles a message. Its answer and everything else about it is written to `outlet`. Never throws. */
  receive(message: Incoming, outlet: Outlet): void
  /** The version agreed on in the handshake, if any. */
  readonly version: string | undefined
  /** True when the transport should stop reading until `onRelief` is called. */
  readonly isSaturated: boolean
  onRelief: (() => void) | undefined
  /** Pings the client. Rejects when there is no answer in time. */
  ping(timeoutMs: number): Promise<void>
  /** Accepts no new requests. Resolves when the open ones are over. */
  drain(): Promise<void>
  /**
   * Aborts the open requests and ends the session.
   * @param cause why the server ends the requests. Undefined: the client ends them
   */
  close(reason: string, cause?: EndCause): void
}

/**
 * Why a server ends a request that has no result: another replica may run it, because this one has lost its lease; the store cannot be used; the
 * server ends; or the server ends, and the request is left to another replica.
 */
export type EndCause = 'replica_lost' | 'store_down' | 'shutdown' | 'handed_over'

/** The sender of a request that belongs to no session, and the version it uses. */
export interface Sender {
  version: string
  principal: string | undefined
  /** The account whose rate limits apply. */
  account: string
  /** False if the transport does not serve `subscriptions/listen`, so that change notices are not declared. */
  canListen?: boolean
  /** Where replicas keep the outcomes of rounds. Undefined: a repeated round runs again. */
  values?: SharedValues | undefined
  /** Set by the transport before it cancels the request because the server ends it. */
  cause?: EndCause
}

/** A request without a session while it is being answered. */
export interface Answering {
  /** Stops the work, because the sender is gone. */
  cancel(reason: unknown): void
  /** Called when the work has stopped after a cancellation. */
  onStopped: (() => void) | undefined
  /** Ends a `subscriptions/listen` request with its answer. Does nothing to other requests. */
  finish(): void
}

/** The tasks of a server, as one of its transports sees them. */
export interface ServedTasks {
  /** The tasks that run in this process and that no other process can continue. */
  readonly running: number
  /**
   * Called when the transport shuts down. After the last one this process takes no task over, and resolves when other processes may continue the
   * tasks that can be continued.
   */
  handOver(): Promise<void>
  /** Resolves when no task runs here, or when another transport still serves them. */
  whenIdle(): Promise<void>
  /** Called when the transport has closed. After the last one, the tasks that are left in its store end, so that nobody waits for them. */
  end(): Promise<void>
}

/** A server as transports use it. `createServer` returns one. */
export interface Service {
  /** The name of the server, shown to a person who opens it in a browser. */
  readonly name?: string | undefined
  open(options: ChannelOptions): Channel
  /** Answers one request that belongs to no session, of any supported revision. Never throws. */
  answer(request: RequestMessage, outlet: Outlet, sender: Sender): Answering
  /** The supported versions, oldest first. */
  readonly versions: readonly string[]
  /** The parameters of a tool that are mirrored in headers. */
  mirroredParams(tool: string): readonly ParamHeader[]
  /** Whether there is a tool of this name. Metrics name only such tools, because clients can send any name. */
  hasTool(name: string): boolean
  /** The scopes that a request needs. The HTTP transport refuses requests without them with status 403. */
  requiredScopes(request: Pick<RequestMessage, 'method' | 'params'>): readonly string[]
  /**
   * Calls `listener` with everything that this process tells clients outside of their requests. All listeners get the same object. Returns a
   * function that ends it.
   */
  onAnnouncement?(listener: (announcement: Announcement) => void): () => void
  /** Tells the clients of this process about a change in another process. Absent if the server has a bus that does so. */
  onRemoteChange?(change: Change): void
  /** This process may have missed changes of others. Sends clients a notice for everything that they listen to. */
  onMissedChanges?(): void
  /** Whether another process may run the handler of this request again when this one stops. */
  isRestartable?(request: Pick<RequestMessage, 'method' | 'params'>): boolean
  /** The client ended a session of several replicas. */
  onSessionEnd?(state: SessionState): void
  /** Limits rates together with other replicas, and keeps tasks with them. Called before the first message. */
  shareWith?(shared: SharedServices): void
  /** Called when a transport begins to serve. What it gets lets it shut down without losing tasks. */
  serveTasks?(): ServedTasks
  /**
   * Replaces the keys of sealed state, so that several processes have the same ones. Absent if the server was given keys.
   *
   * @param areShared true: all replicas have them, so they also seal what replicas share
   */
  useKeys?(keys: KeyRing, areShared?: boolean): void
  /** Replaces limits of the server, by their names in `createServer({ limits })`. Called before the first message. */
  useLimits?(limits: Readonly<Record<string, unknown>>): void
}

export const isService = (value: unknown): value is Service =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Service>).open === 'function'
