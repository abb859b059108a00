/** The client side of `portico/auth`. */

export { memoryTokenStore, type TokenStore } from '../store/token-store.ts'
export type { AuthFailure } from './errors.ts'
export { DEFAULT_OAUTH_LIMITS, type OAuthLimits } from './http.ts'
export { clientCredentials, type EnterpriseOptions, enterprise, type Supply, workloadIdentity } from './login/machine-grants.ts'
export type { GrantContext, OAuthGrant, ObtainedTokens } from './login/oauth-grant.ts'
export type { Redirect, RedirectOptions } from './login/redirect.ts'
export { type OAuth, oauth } from './oauth.ts'
export type { OAuthOptions } from './options.ts'
export type { RegisteredClient } from './registration/client-authentication.ts'
export type { ClientNeed } from './registration/client-registration.ts'
export type { DpopKeyPair } from './tokens/dpop-key.ts'
