/** Every store that we have does what a store must do. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileTokenStore, keychainTokenStore } from '../../../src/auth/store/local-stores.ts'
import type { Keychain } from '../../../src/auth/store/options.ts'
import { memoryTokenStore } from '../../../src/auth/store/token-store.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { checkTokenStore } from '../../support/token-store.ts'

const folder = temporaryFolders()

function memoryKeychain(): Keychain {
  const secrets = new Map<string, string>()
  return {
    read: async (account) => secrets.get(account),
    write: async (account, secret) => void secrets.set(account, secret),
    remove: async (account) => void secrets.delete(account),
  }
}

describe('in memory', () => checkTokenStore(async () => memoryTokenStore()))
describe('in files, the key from a passphrase', () =>
  checkTokenStore(async () => fileTokenStore({ folder: folder(), passphrase: 'correct horse' })))
describe('in files, the key in a keychain', () =>
  checkTokenStore(async () => fileTokenStore({ folder: folder(), keychain: memoryKeychain() })))
describe('in files, the key in a file', () =>
  checkTokenStore(async () => fileTokenStore({ folder: folder(), keychain: false, onWarning: () => {} })))
describe('in a keychain', () => {
  checkTokenStore(async () => keychainTokenStore({ folder: folder(), keychain: memoryKeychain() }))

  test('the folder of the locks is created for this user only', async () => {
    const locks = join(folder(), 'locks')
    const store = keychainTokenStore({ folder: locks, keychain: memoryKeychain() })
    expect(await store.withLock('key', async () => 'done')).toBe('done')
    expect((await stat(locks)).mode & 0o777).toBe(0o700)
  })
})
