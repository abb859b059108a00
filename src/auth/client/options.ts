/** The options of `oauth`. Each step of a login defines its own part. */

import type { SafeFetchOptions } from '../fetch/safe-fetch.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { OAuthLimits } from './fetch-json.ts'
import type { OAuthGrant } from './login/oauth-grant.ts'
import type { LoginOptions } from './login/redirect.ts'
import type { OAuthClientOptions } from './registration/client-registration.ts'
import type { DpopKeyPair } from './tokens/dpop-key.ts'

/** Options for `oauth`. */
export interface OAuthOptions extends OAuthClientOptions, LoginOptions {
  /** How tokens are obtained. Default: a person logs in with a browser. */
  grant?: OAuthGrant
  /** Scopes to request in addition to those that the server requires. */
  scopes?: readonly string[]
  /** Which authorization server to use if the server names several. Default: the first one. */
  issuer?: string
  /**
   * Where tokens and registrations are stored. `fileTokenStore` shares them between processes of one user, `sharedTokenStore` between
   * machines. Default: in memory.
   */
  store?: TokenStore
  /** The name of the person, if the store has the tokens of several. */
  user?: string
  /**
   * Whether tokens are bound to a key (DPoP). `auto`: if the server requires it. Pass a key pair if the tokens outlive the
   * process. Default: `auto`.
   */
  dpop?: 'auto' | 'always' | 'never' | DpopKeyPair
  /** Allows the metadata of the server to be at another origin. Default: false. */
  allowOtherOrigin?: boolean
  /** Treats a server without metadata as its own authorization server, as the first revision with authorization defines. Default: true. */
  allowLegacy?: boolean
  /** Private hosts and ports that may be contacted, certificates, or a proxy. */
  network?: Omit<SafeFetchOptions, 'userUrl' | 'limits'>
  /** Limits that differ from `DEFAULT_OAUTH_LIMITS`. */
  limits?: Partial<OAuthLimits>
  /** Receives warnings about unusual servers. */
  onWarning?(message: string): void
}
