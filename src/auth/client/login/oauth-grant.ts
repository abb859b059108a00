/** A way to get tokens, and what it needs for that. */

import type { Discovery } from '../discovery/discover.ts'
import type { FetchContext } from '../http.ts'
import type { OAuthOptions } from '../options.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import type { ClientRegistration } from '../registration/client-registration.ts'
import type { DpopKey } from '../tokens/dpop-key.ts'
import type { Tokens } from '../tokens/tokens.ts'

export interface GrantContext {
  server: URL
  discovery: Discovery
  /** What to ask for. */
  scopes: readonly string[]
  /** Given when tokens are to be bound to it. */
  key: DpopKey | undefined
  clients: ClientRegistration
  exchange: FetchContext
  options: OAuthOptions
  signal: AbortSignal
}

export interface ObtainedTokens {
  tokens: Tokens
  client: ClientIdentity
}

export interface OAuthGrant {
  /** Whether refresh tokens are of use: they are not when tokens can be got without a person. */
  readonly mayRefresh: boolean
  /** The extension of the protocol that defines it, if one does; it is declared to servers. */
  readonly extension?: string
  obtain(context: GrantContext): Promise<ObtainedTokens>
}
