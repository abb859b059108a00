/** The server side of portico/auth: who may call, and what is done on their behalf. */

export type { HttpAuth } from '../../protocol/access.ts'
export type { DpopOptions } from './dpop.ts'
export type { IntrospectionOptions, IssuerOptions } from './issuer.ts'
export { DEFAULT_RESOURCE_SERVER_LIMITS, type ResourceServerLimits } from './limits.ts'
export { memoryReplays, type ReplayStore } from './replays.ts'
export { type ResourceServerOptions, resourceServer } from './resource-server.ts'
export { type ExchangeTarget, type ExchangeToken, type TokenExchangeOptions, tokenExchange } from './token-exchange.ts'
