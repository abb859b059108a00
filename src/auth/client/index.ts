/** The client side of authorization. */

export type { RegisteredClient } from './client-identity.ts'
export { type DiscoverAuthorizationOptions, type DiscoveredAuthorization, discoverAuthorization } from './discover-authorization.ts'
export type { DpopKeyPair } from './dpop.ts'
export type { AuthFailure } from './faults.ts'
export type { Grant as OAuthGrant, GrantContext, Granted } from './grant.ts'
export { DEFAULT_OAUTH_LIMITS, type OAuthLimits } from './http.ts'
export { clientCredentials, type EnterpriseOptions, enterprise, type Supply, workloadIdentity } from './machine.ts'
export { type OAuth, oauth } from './oauth.ts'
export { openBrowser } from './open-browser.ts'
export type { ClientNeed, OAuthOptions, Redirect, VisitOptions } from './options.ts'
export { memoryTokenStore, type TokenStore } from './ports.ts'
