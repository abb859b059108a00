/** A way to get tokens, and what it needs for that. */

import type { ClientIdentity } from './client-identity.ts'
import type { Clients } from './clients.ts'
import type { Discovery } from './discover.ts'
import type { DpopKey } from './dpop.ts'
import type { Exchange } from './http.ts'
import type { OAuthOptions } from './options.ts'
import type { Tokens } from './tokens.ts'

export interface GrantContext {
  server: URL
  discovery: Discovery
  /** What to ask for. */
  scopes: readonly string[]
  /** Given when tokens are to be bound to it. */
  key: DpopKey | undefined
  clients: Clients
  exchange: Exchange
  options: OAuthOptions
  signal: AbortSignal
}

export interface Granted {
  tokens: Tokens
  client: ClientIdentity
}

export interface Grant {
  /** Whether refresh tokens are of use: they are not when tokens can be got without a person. */
  readonly mayRefresh: boolean
  /** The extension of the protocol that defines it, if one does; it is declared to servers. */
  readonly extension?: string
  obtain(context: GrantContext): Promise<Granted>
}
