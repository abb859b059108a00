/** The server side of portico/auth: who may call, and what is done on their behalf. */

export type { Grant, HttpAuth } from '../../protocol/access.ts'
export type { DpopOptions } from './dpop.ts'
export type { IntrospectionOptions, IssuerOptions } from './issuer.ts'
export { type AuthLimits, DEFAULT_AUTH_LIMITS } from './limits.ts'
export { memoryReplays, type ReplayStore } from './replays.ts'
export { type ResourceServerOptions, resourceServer } from './resource-server.ts'
