/** The server side of portico/auth: who may call, and what is done on their behalf. */

export type { HttpAuth } from '../../protocol/seams/access.ts'
export { type Account, type AccountStore, memoryAccounts } from './accounts.ts'
export type { DpopOptions } from './dpop.ts'
export type { IntrospectionOptions, IssuerOptions } from './issuer.ts'
export { DEFAULT_RESOURCE_SERVER_LIMITS, type ResourceServerLimits } from './limits.ts'
export { type BrowserUser, type PersonPages, type PersonPagesOptions, personPages } from './person-pages.ts'
export { memoryReplays, type ReplayStore } from './replays.ts'
export { type ResourceServerOptions, resourceServer } from './resource-server.ts'
export { type ThirdParty, type ThirdPartyOptions, thirdParty } from './third-party.ts'
export { type ExchangeTarget, type ExchangeToken, type TokenExchangeOptions, tokenExchange } from './token-exchange.ts'
export { type Invited, memoryVisits, type Visit, type VisitBounds, type VisitStore } from './visits.ts'
