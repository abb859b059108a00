/** Stores that outlive the process. They are loaded when they are used first, because they need Node and not everybody needs them. */

import type { FileStoreOptions, KeychainStoreOptions } from './options.ts'
import type { TokenStore } from './token-store.ts'

/**
 * Tokens in files of the user, encrypted, with the key in the keychain of the system where there is one. Several processes
 * may share it. This is the one to use on a machine where a person works: a keychain alone takes no large entries on some
 * systems, and has no locks.
 */
export const fileTokenStore = (options: FileStoreOptions = {}): TokenStore =>
  whenUsed(async () => (await import('./node/file-store.ts')).openFileStore(options))

/** Tokens in the keychain itself. Fails with ERR_STORE where there is none. */
export const keychainTokenStore = (options: KeychainStoreOptions = {}): TokenStore =>
  whenUsed(async () => (await import('./node/keychain-store.ts')).openKeychainStore(options))

function whenUsed(load: () => Promise<TokenStore>): TokenStore {
  let loading: Promise<TokenStore> | undefined
  const store = async (): Promise<TokenStore> => {
    loading ??= load()
    try {
      return await loading
    } catch (error) {
      // Somebody may mend it.
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
