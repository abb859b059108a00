/** A way to obtain tokens, and its input. */

import type { Discovery } from '../discovery/discover.ts'
import type { FetchContext } from '../fetch-json.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import type { ClientRegistration } from '../registration/client-registration.ts'
import type { DpopKey } from '../tokens/dpop-key.ts'
import type { Tokens } from '../tokens/tokens.ts'
import type { LoginOptions } from './redirect.ts'

/** The input of a grant. */
export interface GrantContext {
  /** The URL of the MCP server. */
  server: URL
  discovery: Discovery
  /** The scopes to request. */
  scopes: readonly string[]
  /** The key to bind the tokens to; undefined for bearer tokens. */
  key: DpopKey | undefined
  registration: ClientRegistration
  http: FetchContext
  options: LoginOptions
  signal: AbortSignal
}

/** New tokens, and the client that they were issued to. */
export interface ObtainedTokens {
  tokens: Tokens
  client: ClientIdentity
}

/** A way to obtain tokens, such as `clientCredentials()`. */
export interface OAuthGrant {
  /** Whether to request refresh tokens. False for grants that can obtain new tokens without a person. */
  readonly mayRefresh: boolean
  /** The protocol extension that defines the grant. It is declared to servers. */
  readonly extension?: string
  obtain(context: GrantContext): Promise<ObtainedTokens>
}
