/** The client side of authorization. */

export { memoryTokenStore, type TokenStore } from '../store/token-store.ts'
export type { AuthFailure } from './errors.ts'
export { DEFAULT_OAUTH_LIMITS, type OAuthLimits } from './http.ts'
export { clientCredentials, type EnterpriseOptions, enterprise, type Supply, workloadIdentity } from './login/machine-grants.ts'
export type { GrantContext, OAuthGrant, ObtainedTokens } from './login/oauth-grant.ts'
export { type OAuth, oauth } from './oauth.ts'
export type { ClientNeed, OAuthOptions, Redirect, RedirectOptions } from './options.ts'
export type { RegisteredClient } from './registration/client-authentication.ts'
export type { DpopKeyPair } from './tokens/dpop-key.ts'
