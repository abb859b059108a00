/** Stores that outlive the process. Their code needs Node, so it is loaded when a store is first used. */

import { checkMembers } from '../../protocol/check-members.ts'
import type { FileStoreOptions, KeychainStoreOptions } from './options.ts'
import type { TokenStore } from './token-store.ts'

/**
 * Stores tokens in encrypted files of the user. The key is in the keychain of the system, if there is one. Several processes
 * may share the store. Recommended on a person's machine: a keychain alone has no locks and, on some systems, no room for
 * large entries.
 *
 * @example
 * ```ts
 * const client = await connect(url, { auth: oauth({ store: fileTokenStore() }) })
 * ```
 */
export const fileTokenStore = (options: FileStoreOptions = {}): TokenStore => {
  checkMembers('fileTokenStore', options, { folder: 1, passphrase: 1, keychain: 1, limits: 1, onWarning: 1 })
  return loadOnUse(async () => (await import('./node/file-store.ts')).openFileStore(options))
}

/**
 * Stores each entry in the keychain of the system. Throws `ERR_STORE` if there is no keychain.
 *
 * @example
 * ```ts
 * const client = await connect(url, { auth: oauth({ store: keychainTokenStore() }) })
 * ```
 */
export const keychainTokenStore = (options: KeychainStoreOptions = {}): TokenStore => {
  checkMembers('keychainTokenStore', options, { keychain: 1, folder: 1, limits: 1 })
  return loadOnUse(async () => (await import('./node/keychain-store.ts')).openKeychainStore(options))
}

function loadOnUse(load: () => Promise<TokenStore>): TokenStore {
  let loading: Promise<TokenStore> | undefined
  const store = async (): Promise<TokenStore> => {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      // The cause, such as a locked keychain, may be gone at the next call.
      loading = undefined
      throw error
    }
  }
  return {
    get: async (key) => (await store()).get(key),
    set: async (key, value) => (await store()).set(key, value),
    delete: async (key) => (await store()).delete(key),
    withLock: async (key, run) => (await store()).withLock(key, run),
  }
}
