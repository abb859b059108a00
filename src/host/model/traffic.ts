/** Everything that passes between a host and its servers, for people who look. */

import type { Implementation } from '../../protocol/model/base.ts'
import type { ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import type { LogLevel } from '../../protocol/model/logging.ts'

/** A message, or the HTTP exchange that carried one. `onTraffic` of the host options receives it, without secrets. */
export type HostTraffic =
  | {
      kind: 'message'
      /** Counts the messages of this host, from 1. */
      number: number
      server: string
      /** Counts the connections of this host, from 1. */
      connection: number
      from: 'host' | 'server'
      /** Milliseconds since 1970. */
      at: number
      /** The negotiated revision. Undefined during the handshake. */
      revision: string | undefined
      /** The message as JSON. For invalid input: `{ malformed }` or `{ ignored }` with the reason. */
      message: unknown
      /** The size of the message as JSON. */
      bytes: number
    }
  | {
      kind: 'http'
      /** The number of the message that the request carried. */
      number: number
      server: string
      method: string
      url: string
      /** Without the headers of the configuration and of the login. */
      headers: Readonly<Record<string, string>>
      /** The names of the headers of the configuration and of the login. */
      hiddenHeaders: readonly string[]
      status: number
      /** Values of cookies and tokens are hidden. */
      responseHeaders: Readonly<Record<string, string>>
    }

/** What a server said in the handshake, and how it is connected. */
export interface ServerConnection {
  /** The negotiated protocol revision. */
  revision: string
  info: Implementation
  capabilities: ServerCapabilities
  instructions: string | undefined
  /** Milliseconds since 1970. */
  connectedAt: number
  /** The request of a ping. Revisions without `ping` have another. */
  pingMethod: 'ping' | 'server/discover'
  /** The lowest level that the server logs. Undefined: it declares no logging. */
  logging?: { level: LogLevel /** How it is set. Undefined: each request names the level. */; method?: 'logging/setLevel' }
  /** The id of the server's process. */
  pid?: number
  /** The address of the server, without the query. */
  url?: string
}
