/** Every store that we have does what a store must do. */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileTokenStore, keychainTokenStore } from '../../../src/auth/store/local-stores.ts'
import type { Keychain } from '../../../src/auth/store/options.ts'
import { sharedTokenStore } from '../../../src/auth/store/shared-token-store.ts'
import { memoryTokenStore } from '../../../src/auth/store/token-store.ts'
import { McpError } from '../../../src/protocol/errors.ts'
import { keyRing } from '../../../src/server/index.ts'
import { memoryStore } from '../../../src/store/index.ts'
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
describe('in the memory of replicas', () => checkTokenStore(async () => sharedTokenStore(memoryStore(), { keys: keyRing('x'.repeat(32)) })))

test('an entry that cannot be opened is missing, and the reason is reported', async () => {
  const store = memoryStore()
  const warnings: string[] = []
  const open = (secret: string) =>
    sharedTokenStore(store, { keys: keyRing(secret.repeat(32)), onWarning: (warning) => warnings.push(warning) })
  await open('a').set('k', 'secret')
  expect(await store.counters.kept('token k')).not.toContain('secret')
  expect(await open('b').get('k')).toBeUndefined()
  await store.counters.put('token other', (await store.counters.kept('token k')) ?? '', 1000)
  expect(await open('a').get('other')).toBeUndefined()
  expect(warnings).toMatchObject(
    [/a key that this process does not have/, /was changed, moved or sealed/].map((text) => expect.stringMatching(text)),
  )
  expect(await open('a').get('k')).toBe('secret')
})

test('tokens are written again while the store is down, and a lock that another holds ends in an error', async () => {
  const store = memoryStore()
  let failures = 2
  const flaky = {
    counters: {
      ...store.counters,
      put: async (...args: Parameters<typeof store.counters.put>) => {
        if (failures-- > 0) throw new McpError('ERR_STORE_DOWN', 'No connection')
        return store.counters.put(...args)
      },
    },
  }
  const tokens = sharedTokenStore(flaky, { keys: keyRing('x'.repeat(32)), limits: { lockTimeoutMs: 50 } })
  await tokens.set('k', 'v')
  expect(await tokens.get('k')).toBe('v')
  await store.counters.lock('token k', 60_000)
  await expect(tokens.withLock('k', async () => 1)).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
    message: expect.stringContaining('lockTimeoutMs'),
  })
  await expect(tokens.set('k', 'x'.repeat(300_000))).rejects.toMatchObject({ code: 'ERR_LIMIT' })
})

describe('in a keychain', () => {
  checkTokenStore(async () => keychainTokenStore({ folder: folder(), keychain: memoryKeychain() }))

  test('the folder of the locks is created for this user only', async () => {
    const locks = join(folder(), 'locks')
    const store = keychainTokenStore({ folder: locks, keychain: memoryKeychain() })
    expect(await store.withLock('key', async () => 'done')).toBe('done')
    expect((await stat(locks)).mode & 0o777).toBe(0o700)
  })
})
