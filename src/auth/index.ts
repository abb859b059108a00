/** `portico/auth`: authorization for protected servers and for clients that log in. */

export * from './client/index.ts'
export type { ForeignUrlOptions, UrlRefusal } from './fetch/foreign-url.ts'
export {
  DEFAULT_SAFE_FETCH_LIMITS,
  type Resolve,
  type SafeFetch,
  type SafeFetchInit,
  type SafeFetchLimits,
  type SafeFetchOptions,
  safeFetch,
} from './fetch/safe-fetch.ts'
export * from './server/index.ts'
export { fileTokenStore, keychainTokenStore } from './store/local-stores.ts'
export {
  DEFAULT_FILE_STORE_LIMITS,
  type FileStoreLimits,
  type FileStoreOptions,
  type Keychain,
  type KeychainStoreOptions,
} from './store/options.ts'
export type { LockingStore } from './store/shared-lock.ts'
export { type SharedTokenStoreOptions, sharedTokenStore } from './store/shared-token-store.ts'
