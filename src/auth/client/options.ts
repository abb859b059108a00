/** What may be said about logging in, every part with its default. */

import type { SafeFetchOptions } from '../fetch/safe-fetch.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { OAuthLimits } from './http.ts'
import type { OAuthGrant } from './login/oauth-grant.ts'
import type { RegisteredClient } from './registration/client-authentication.ts'
import type { DpopKeyPair } from './tokens/dpop-key.ts'

export interface OAuthOptions {
  /** How tokens are got; by sending a person to the browser unless given. */
  grant?: OAuthGrant
  /** A client that is registered already, or one for each of several authorization servers. No other is used then. */
  client?: RegisteredClient | readonly RegisteredClient[]
  /** Asked for a client when there is none and none can be made: a person may register one by hand, and say what came of it. */
  askForClient?(need: ClientNeed): RegisteredClient | undefined | Promise<RegisteredClient | undefined>
  /** The https URL of a document about this client, which is its client id wherever such documents are known. */
  clientDocument?: string
  /**
   * What is said about this client when it registers itself. Such registration is deprecated by the newest revision, and
   * may be removed from the protocol in a revision of 2027-07-28 or later: give `client` or `clientDocument`.
   */
  about?: { name?: string; uri?: string }
  /** Scopes to ask for besides those the server wants. */
  scopes?: readonly string[]
  /** The authorization server to use if the server names several. */
  issuer?: string
  /** Where tokens and registrations are kept; in memory unless given. */
  store?: TokenStore
  /** Whose tokens they are, if there is more than one person. */
  user?: string
  /** Tokens bound to a key: when the server asks for that, always, or never. A key pair is for tokens that outlive the process. */
  dpop?: 'auto' | 'always' | 'never' | DpopKeyPair
  /** Opens the page in the place of the system's browser. */
  openBrowser?(url: string): void | Promise<void>
  /** Where logins are sent back to, instead of a random port of this machine. */
  redirect?: Redirect | string
  /** Whether metadata may be at another origin than the server. */
  allowOtherOrigin?: boolean
  /** Whether a server without metadata is taken for its own authorization server, as the second revision of the protocol had it; true unless given. */
  allowLegacy?: boolean
  /** Hosts and ports that may be asked though they are not public, certificates, a proxy. */
  network?: Omit<SafeFetchOptions, 'userUrl' | 'limits'>
  limits?: Partial<OAuthLimits>
  /** Something was odd and was dealt with. */
  onWarning?(message: string): void
}

export interface ClientNeed {
  /** The authorization server that it must be registered with. */
  issuer: string
  /** The address that logins are sent back to. */
  redirectUri: string
}

/** The way from a login back to the program, for programs without a browser of their own or with an address of their own. */
export interface Redirect {
  /** The address that logins are sent back to: https, or on this machine. */
  uri: string
  /** Sends the person to `url`, and resolves with the address that they were sent back to, query and all. */
  visit(url: string, options: RedirectOptions): Promise<string | URL>
}

export interface RedirectOptions {
  /** The login is given up. */
  signal: AbortSignal
  /** Whether this is the way back from this login, and not something that anybody else sent. */
  isOurs(url: string | URL): boolean
}
