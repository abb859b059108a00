/** Options of the HTTP handler, every bound with its default. */

import type { Rate } from '../../base/rate.ts'
import type { ReadBounds } from '../../jsonrpc/read.ts'
import { DEFAULT_READ_BOUNDS } from '../../jsonrpc/read.ts'
import type { AuthenticatedCaller, AuthRefusal, HttpAuth, RequestHead } from '../../protocol/seams/access.ts'
import type { BodyBounds } from './ask.ts'

export type { AuthenticatedCaller as Visitor, AuthRefusal as TurnedAway, HttpAuth, RequestHead as Knock }

export interface HttpLimits extends ReadBounds, BodyBounds {
  /** Headers of one request. */
  maxHeaders: number
  /** Credentials from one address that may be refused; past that the answer is to wait. */
  failedLogins: Rate | false
  /** Sessions of this process. */
  maxSessions: number
  /** Sessions of one principal; counts only where callers prove who they are. */
  maxSessionsPerPrincipal: number
  /** Sessions of one address; counts only where nobody authenticates. The one unused longest gives way to a new one. */
  maxSessionsPerAddress: number | false
  /** How long a session may be unused. */
  sessionIdleMs: number
  /** How long a session may last. */
  sessionMaxAgeMs: number
  /** Requests worked on at the same time: of one session, of one principal or address, of this process. */
  maxInFlightPerSession: number
  maxInFlightPerPrincipal: number
  maxInFlightPerAddress: number | false
  maxInFlight: number
  /**
   * Memory that messages take which arrive or are worked on: their length, and 32 bytes for each value in them. Of this process,
   * and of one principal, or of one address where nobody authenticates.
   */
  maxBodyBytesInHand: number
  maxBodyBytesInHandPerAddress: number | false
  /** Those of one principal or address that nobody waits for, because the client went away. */
  maxAbandoned: number
  /** Streams of events open at the same time: of one session, of one principal without sessions, of one address, of this process. */
  maxStreamsPerSession: number
  maxListensPerPrincipal: number
  maxStreamsPerAddress: number | false
  maxStreams: number
  /** Bytes that wait for one reader before whoever writes is asked to wait too. */
  softBufferBytes: number
  /** Bytes that wait for one reader before it is cut off. */
  hardBufferBytes: number
  /** How long a reader may take nothing before it is cut off. */
  stallMs: number
  /** How often a quiet stream shows that it is alive. */
  keepAliveMs: number
  /** How long a stream that belongs to no request stays open before it is ended cleanly. */
  maxStreamAgeMs: number
  /** How long a stream may go on after the credentials it was opened with have ended. */
  authGraceMs: number
  /** How long a request may go unanswered before its answer becomes a stream, which can be kept alive and resumed. */
  streamAfterMs: number
  /** How long clients are asked to wait before they come back to a stream. */
  retryMs: number
  /** Events kept of one stream for a client that comes back. */
  maxEvents: number
  maxEventBytes: number
  /** Bytes of events kept so: of one session, of this process. */
  maxKeptBytesPerSession: number
  maxKeptBytes: number
  /** How long they are kept after the stream ended or the client went away. */
  eventTtlMs: number
  /** Ended streams of one session that are kept so. */
  maxEndedStreams: number
  /** How often a session with an open stream is asked for a sign of life, and how often that may fail. */
  pingMs: number
  maxMissedPings: number
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...DEFAULT_READ_BOUNDS,
  maxBodyBytes: 4 * 1024 * 1024,
  bodyGraceMs: 10_000,
  minBodyRate: 1024,
  maxHeaders: 100,
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
  maxAbandoned: 64,
  maxStreamsPerSession: 8,
  maxListensPerPrincipal: 16,
  maxStreamsPerAddress: 1024,
  maxStreams: 8192,
  softBufferBytes: 256 * 1024,
  hardBufferBytes: 1024 * 1024,
  stallMs: 15_000,
  keepAliveMs: 15_000,
  maxStreamAgeMs: 30 * 60_000,
  authGraceMs: 60_000,
  streamAfterMs: 5_000,
  retryMs: 1_000,
  maxEvents: 1_000,
  maxEventBytes: 4 * 1024 * 1024,
  maxKeptBytesPerSession: 8 * 1024 * 1024,
  maxKeptBytes: 64 * 1024 * 1024,
  eventTtlMs: 10 * 60_000,
  maxEndedStreams: 16,
  pingMs: 30_000,
  maxMissedPings: 2,
}

export interface HttpOptions {
  /**
   * Names under which the server may be called, such as `mcp.example.com` or `mcp.example.com:8443`. Needed unless it
   * is only reached at a loopback address or callers must authenticate.
   */
  allowedHosts?: readonly string[]
  /** Origins of web pages that may call it, such as `https://app.example.com`, beside its own. */
  allowedOrigins?: readonly string[]
  /** Takes any Host header. Any web page a person visits can then call the server through their browser. */
  dangerouslyAllowAnyHost?: boolean
  /** Who may call: `resourceServer(...)` of portico/auth, which also serves what clients need to know to log in. */
  auth?: HttpAuth
  /** Proves who is calling, in a way of your own; instead of `auth`. It is asked before the body is read, for every request of every kind. */
  authenticate?(knock: RequestHead): AuthenticatedCaller | AuthRefusal | Promise<AuthenticatedCaller | AuthRefusal>
  /**
   * How many proxies stand in front of this server; `true` is one. The address of a client is then the one that they
   * tell in X-Forwarded-For. Only set it when nobody can reach the server except through them. Default: false.
   */
  trustProxy?: boolean | number
  /** False keeps nothing between the requests of older clients either: no sessions, no questions, no notifications. */
  sessions?: boolean
  /**
   * False leaves the transport of the oldest revision out (`/sse` and `/messages` beside the endpoint). Default: true. The
   * protocol has called that transport deprecated since its second revision and may remove it; it is there for old clients.
   */
  legacySse?: boolean
  /** `auto` answers with JSON and goes over to a stream when there is something to say before the answer. */
  responses?: 'auto' | 'json' | 'sse'
  /** Rejects requests without the headers that mirror the message also where the revision does not demand them. */
  requireMcpHeaders?: boolean
  limits?: Partial<HttpLimits>
  /** Hears of what was refused or cut off, for logs and counters. Nothing in it is secret. */
  onRefused?(what: { status: number; reason: string; limit?: string }): void
}
