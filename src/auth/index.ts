/** portico/auth: authorization, for servers that are protected and clients that log in. */

export type { ForeignUrlOptions, UrlRefusal } from './foreign-url.ts'
export {
  DEFAULT_SAFE_FETCH_LIMITS,
  type Resolve,
  type SafeFetch,
  type SafeFetchInit,
  type SafeFetchLimits,
  type SafeFetchOptions,
  safeFetch,
} from './safe-fetch.ts'
