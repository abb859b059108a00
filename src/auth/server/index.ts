/** The server side of `portico/auth`. */

export type { HttpAuth } from '../../protocol/interfaces/access.ts'
export { type ApiKeysOptions, apiKeys, type KeyHolder } from './api-keys.ts'
export type { DpopOptions } from './dpop/proof.ts'
export { memoryReplays, type ReplayStore } from './dpop/replays.ts'
export { DEFAULT_RESOURCE_SERVER_LIMITS, type ResourceServerLimits } from './limits.ts'
export {
  type Account,
  type AccountStore,
  memoryAccounts,
  type ThirdParty,
  type ThirdPartyOptions,
  thirdParty,
} from './on-behalf/third-party.ts'
export { type ExchangeTarget, type ExchangeToken, type TokenExchangeOptions, tokenExchange } from './on-behalf/token-exchange.ts'
export { type BrowserUser, type PersonPages, type PersonPagesOptions, personPages } from './person-pages/person-pages.ts'
export { type Invited, memoryVisits, type Visit, type VisitBounds, type VisitStore } from './person-pages/visits.ts'
export { type ResourceServerOptions, resourceServer } from './resource-server.ts'
export type { IntrospectionOptions, IssuerOptions } from './tokens/issuer.ts'
