/** The options of the HTTP handler, with every limit and its default. */

import { notices } from '../../base/notices.ts'
import type { Rate } from '../../base/rate.ts'
import { MAX_PROXIES } from '../../base/serving-maxima.ts'
import type { ReadBounds } from '../../jsonrpc/read.ts'
import { DEFAULT_READ_BOUNDS } from '../../jsonrpc/read.ts'
import type { RequestRecord } from '../../observability/request-record.ts'
import type { Members } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { AuthenticatedCaller, AuthRefusal, HttpAuth, RequestHead } from '../../protocol/interfaces/access.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import type { HealthOptions, MetricsOptions } from './operations/health.ts'
import type { BodyBounds } from './runtime/request-reply.ts'
import type { PublicDocuments } from './server-card.ts'

export type { AuthenticatedCaller, AuthRefusal, HttpAuth, RequestHead }

/** The limits of one HTTP handler. */
export interface HttpLimits extends Pick<ReadBounds, 'maxValues'>, Omit<BodyBounds, 'bodyGraceMs'> {
  /** Refused credentials from one address. Beyond it the response is 429. */
  failedLogins: Rate | false
  /** Sessions of this process. */
  maxSessions: number
  /** Sessions of one authenticated caller. */
  maxSessionsPerPrincipal: number
  /** Sessions of one address, without authentication. The session idle for the longest time is closed for a new one. */
  maxSessionsPerAddress: number | false
  /** How long a session may be idle. */
  sessionIdleMs: number
  /** How long a session may last. */
  sessionMaxAgeMs: number
  /** Requests in progress in one session. */
  maxInFlightPerSession: number
  /** Requests in progress of one authenticated caller. */
  maxInFlightPerPrincipal: number
  /** Requests in progress from one address, without authentication. */
  maxInFlightPerAddress: number | false
  /** Requests in progress in this process. */
  maxInFlight: number
  /** Memory of the messages that arrive or are in progress in this process: their length, and 32 bytes for each value. */
  maxBodyBytesInHand: number
  /** The same for one authenticated caller, or for one address without authentication. */
  maxBodyBytesInHandPerAddress: number | false
  /** Open streams of one address, without authentication. */
  maxStreamsPerAddress: number | false
  /** Open streams of this process. */
  maxStreams: number
  /** How often an idle stream gets a keep-alive comment. */
  keepAliveMs: number
  /** Memory of the events of all streams that are kept for clients that resume them. */
  maxKeptBytes: number
}

/** The default of every limit. */
export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  maxValues: DEFAULT_READ_BOUNDS.maxValues,
  maxBodyBytes: 4 * 1024 * 1024,
  minBodyRate: 1024,
  failedLogins: { perSecond: 10 / 60, burst: 10 },
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 100,
  maxSessionsPerAddress: 1000,
  sessionIdleMs: 30 * 60_000,
  sessionMaxAgeMs: 24 * 60 * 60_000,
  maxInFlightPerSession: 64,
  maxInFlightPerPrincipal: 256,
  maxInFlightPerAddress: 256,
  maxInFlight: 2048,
  maxBodyBytesInHand: 64 * 1024 * 1024,
  maxBodyBytesInHandPerAddress: 16 * 1024 * 1024,
  maxStreamsPerAddress: 1024,
  maxStreams: 8192,
  keepAliveMs: 15_000,
  maxKeptBytes: 64 * 1024 * 1024,
}

type NumberOrFalse = { [Name in keyof HttpLimits]: number | false extends HttpLimits[Name] ? Name : never }[keyof HttpLimits]

const MAY_BE_OFF: Readonly<Record<NumberOrFalse, 1>> = {
  maxSessionsPerAddress: 1,
  maxInFlightPerAddress: 1,
  maxBodyBytesInHandPerAddress: 1,
  maxStreamsPerAddress: 1,
}

/** The limits of a handler: what its options say, and the defaults. */
export const httpLimits = (limits: HttpOptions['limits']): HttpLimits => withDefaults(DEFAULT_HTTP_LIMITS, limits, { mayBeOff: MAY_BE_OFF })

/** Options of {@link httpHandler} and {@link listen}. */
export interface HttpOptions {
  /**
   * Host names that clients use, such as `mcp.example.com` or `mcp.example.com:8443`. Required unless the server is reached
   * at a loopback address only, or callers must authenticate.
   */
  allowedHosts?: readonly string[]
  /**
   * Origins of web pages that may call the server, such as `https://app.example.com`. Its own origin is always allowed. `null` allows
   * every sandboxed page of every site.
   */
  allowedOrigins?: readonly string[]
  /** Accepts every Host header. Every web page that a person visits can then call the server through their browser. */
  dangerouslyAllowAnyHost?: boolean
  /** Who may call: `resourceServer(...)` of portico/auth. It also publishes the metadata that clients need to log in. */
  auth?: HttpAuth
  /** Your own authentication, instead of `auth`. Called for every request, before its body is read. */
  authenticate?(request: RequestHead): AuthenticatedCaller | AuthRefusal | Promise<AuthenticatedCaller | AuthRefusal>
  /**
   * How many proxies are in front of this server; `true` means one. The client's address is then taken from X-Forwarded-For.
   * Set it only when the server cannot be reached except through the proxies. Default: false.
   */
  trustProxy?: boolean | number
  /**
   * Where the replicas of a server share the sessions of older revisions, so that every request may reach any of them. `redis()` of
   * portico/redis makes one. Default: each process has its own sessions.
   *
   * @example
   * await listen(server, { store: redis('redis://127.0.0.1:6379') })
   */
  store?: SharedStore
  /** Whether clients of older revisions get sessions. Without sessions there are no requests or notifications to them. Default: true. */
  sessions?: boolean
  /**
   * Whether to serve the transport of the oldest revision at `/sse` and `/messages`, next to the endpoint. The protocol has
   * deprecated it since its second revision. Default: true.
   */
  legacySse?: boolean
  /** `auto` answers with JSON, or with a stream when a message has to be sent before the answer. Default: `auto`. */
  responses?: 'auto' | 'json' | 'sse'
  /** Requires the headers that repeat parts of the message also where the revision does not. Default: false. */
  requireMcpHeaders?: boolean
  /** Whether a browser that opens the endpoint gets a page that says what it is. Default: true. */
  browserPage?: boolean
  /** Tells clients and registries what the server is before they connect: `serverCard(...)`. Default: none. */
  card?: PublicDocuments
  /** Limits that differ from the defaults in docs/limits.md. */
  limits?: Partial<HttpLimits>
  /** Serves `/healthz` and `/readyz` for probes, at these paths only. Default: false. */
  health?: boolean | HealthOptions
  /** Serves `/metrics` for Prometheus, at this path only. Default: false. */
  metrics?: boolean | MetricsOptions
  /**
   * Called with a record of each request after its answer was written, for logs.
   *
   * @example
   * onRequest: ({ principal, method, target, outcome, durationMs }) => console.error(principal, method, target, outcome, durationMs)
   */
  onRequest?(record: RequestRecord): void
  /** Called for every refused request and closed stream, for logs and metrics. It never gets secrets. */
  onRefused?(what: Refused): void
}

/** A request that was refused before it was read as a message, or a stream that was cut. */
export interface Refused {
  /** The status of the response; 0 if there was none. */
  status: number
  reason: string
  /** The short name of the reason, such as `store_down`. The metric `portico_refusals_total` has it as its label `reason`. */
  kind: string
  /** The method of the HTTP request. */
  httpMethod?: string | undefined
  /** The path of the HTTP request, without its query; at most 200 characters. */
  path?: string | undefined
  /** The limit that was reached, such as `maxSessions`. */
  limit?: string | undefined
  /** The verified caller. Undefined without authentication, and if that failed. */
  principal?: string | undefined
  /** The address of the client. Undefined if the runtime has none. */
  address?: string | undefined
}

/** The names of all options of `httpHandler`. */
export const HTTP_MEMBERS: Members<HttpOptions> = {
  allowedHosts: 1,
  allowedOrigins: 1,
  dangerouslyAllowAnyHost: 1,
  auth: 1,
  authenticate: 1,
  trustProxy: 1,
  store: 1,
  sessions: 1,
  legacySse: 1,
  responses: 1,
  requireMcpHeaders: 1,
  browserPage: 1,
  card: 1,
  limits: 1,
  health: 1,
  metrics: 1,
  onRequest: 1,
  onRefused: 1,
}

/** Replicas with random keys cannot open the state and the cursors of each other. It is better to say so before the first client meets it. */
export function warnWithoutKeys({ useKeys }: Service, { store }: HttpOptions): void {
  // A store of one process has no other replicas.
  if (!useKeys || !store || 'another' in store) return
  notices.write(
    'warn',
    'portico: the server has a store and no keys: questions and pages of lists that begin at one replica fail at another, and the store holds plain text unless it has keys. Give all replicas the same keys: createServer({ keys: keyRing(secret) }), or the setting keys of portico serve (PORTICO_KEYS_FILE)',
  )
}

/** The number of trusted proxies. */
export function countProxies(trustProxy: boolean | number | undefined): number {
  const count = Number(trustProxy ?? 0)
  if (Number.isInteger(count) && count >= 0 && count <= MAX_PROXIES) return count
  throw new McpError(
    'ERR_DEFINITION',
    `trustProxy must be true, false or the number of proxies, at most ${MAX_PROXIES}, not ${String(trustProxy)}`,
  )
}
