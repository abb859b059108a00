/** Tokens in files: who can read them, what is in them, and what becomes of them when something goes wrong. */

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { fileTokenStore, keychainTokenStore } from '../../../src/auth/store/local-stores.ts'
import type { FileStoreOptions, Keychain } from '../../../src/auth/store/options.ts'
import { sealer } from '../../../src/auth/store/seal.ts'
import { readPrivate } from '../../../src/files/private-file.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'

const newFolder = temporaryFolders()

/** A store with its key in a file, whose warnings are looked at. */
function storeIn(folder: string, options: FileStoreOptions = {}) {
  const warnings: string[] = []
  const store = fileTokenStore({ folder, keychain: false, onWarning: (message) => warnings.push(message), ...options })
  return { store, warnings }
}

const tokenFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.token'))
    .map((name) => join(folder, name))
const SECRET = 'refresh-token-that-nobody-else-may-see'

describe('who can read them', () => {
  test('the folder of the store is for the user only, and so is each file in it', async () => {
    proves('T-AUTH-050', 'R-AUTH-012')
    const folder = join(newFolder(), 'a', 'b')
    const { store } = storeIn(folder)
    await store.set('k', SECRET)
    await store.withLock('k', async () => {
      for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, '..')).mode & 0o777).toBe(0o700)
  })

  test.each([0o750, 0o701, 0o777, 0o720])('a folder of mode %o is refused, and nothing is written to it', async (mode) => {
    const folder = newFolder()
    chmodSync(folder, mode)
    const { store } = storeIn(folder)
    await expect(store.set('k', SECRET)).rejects.toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('chmod 700') })
    expect(readdirSync(folder)).toEqual([])
    chmodSync(folder, 0o700)
    await store.set('k', SECRET)
    expect(await store.get('k')).toBe(SECRET)
  })

  test('an entry or a key that others can read is refused', async () => {
    const folder = newFolder()
    await storeIn(folder).store.set('k', SECRET)
    for (const file of [tokenFiles(folder)[0] as string, join(folder, 'key')]) {
      for (const mode of [0o640, 0o604, 0o660]) {
        chmodSync(file, mode)
        await expect(storeIn(folder).store.get('k')).rejects.toMatchObject({
          code: 'ERR_STORE',
          message: expect.stringContaining('chmod 600'),
        })
      }
      chmodSync(file, 0o600)
    }
    expect(await storeIn(folder).store.get('k')).toBe(SECRET)
  })

  test('a link to another place is not followed', async () => {
    const folder = newFolder()
    const elsewhere = join(newFolder(), 'bait')
    writeFileSync(elsewhere, Buffer.alloc(32, 1), { mode: 0o600 })
    symlinkSync(elsewhere, join(folder, 'key'))
    await expect(storeIn(folder).store.set('k', SECRET)).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

describe('what is in them', () => {
  test.each<[string, FileStoreOptions]>([
    ['a passphrase', { passphrase: 'a passphrase nobody guesses' }],
    ['a keychain', { keychain: memoryKeychain().keychain }],
    ['a file', {}],
  ])('a stored file contains no readable text, with the key from %s', async (_, options) => {
    proves('T-AUTH-050', 'R-AUTH-012', 'R-AUTH-079')
    const folder = newFolder()
    const { store } = storeIn(folder, options)
    await store.set('https://as.example|https://mcp.example', SECRET)
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name))
      for (const secret of [SECRET, SECRET.slice(0, 8), btoa(SECRET).slice(0, 20), 'as.example', 'a passphrase']) {
        expect(bytes.includes(secret), `${secret} in ${name}`).toBe(false)
        expect(name).not.toContain(secret)
      }
    }
    // Not even the same twice.
    const before = readFileSync(tokenFiles(folder)[0] as string)
    await store.set('https://as.example|https://mcp.example', SECRET)
    expect(readFileSync(tokenFiles(folder)[0] as string).equals(before)).toBe(false)
  })

  test('the same passphrase opens the store again, and another does not', async () => {
    const folder = newFolder()
    await storeIn(folder, { passphrase: 'one' }).store.set('k', SECRET)
    expect(await storeIn(folder, { passphrase: 'one' }).store.get('k')).toBe(SECRET)
    const other = storeIn(folder, { passphrase: 'two' })
    expect(await other.store.get('k')).toBeUndefined()
    expect(other.warnings).toEqual([expect.stringContaining('cannot be decrypted')])
    await expect(storeIn(folder, { passphrase: '' }).store.get('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  test('a key in a file causes one warning, and one in a keychain none', async () => {
    const folder = newFolder()
    const { store, warnings } = storeIn(folder)
    await store.set('a', '1')
    await store.get('a')
    expect(warnings).toEqual([expect.stringContaining('no keychain')])
    // The next start of the program says nothing.
    const again = storeIn(folder)
    await again.store.set('b', '2')
    expect(again.warnings).toEqual([])
    const { keychain, secrets } = memoryKeychain()
    const kept = storeIn(newFolder(), { keychain })
    await kept.store.set('a', '1')
    expect(kept.warnings).toEqual([])
    expect([...secrets.values()].map((secret) => Buffer.from(secret, 'base64').length)).toEqual([32])
  })

  test('an entry in the place of another is refused', async () => {
    const folder = newFolder()
    const { store, warnings } = storeIn(folder)
    await store.set('mine', SECRET)
    const file = tokenFiles(folder)[0] as string
    const bytes = readFileSync(file)
    await store.set('yours', 'other')
    const other = tokenFiles(folder).find((name) => name !== file) as string
    writeFileSync(other, bytes)
    expect(await store.get('yours')).toBeUndefined()
    expect(warnings).toHaveLength(2)
  })
})

describe('what is altered', () => {
  test('an entry with any changed bit is dropped with a warning, and the next login replaces it', async () => {
    const folder = newFolder()
    const { store, warnings } = storeIn(folder)
    await store.set('k', 'value')
    warnings.length = 0
    const file = tokenFiles(folder)[0] as string
    const good = readFileSync(file)
    for (let bit = 0; bit < good.length * 8; bit++) {
      const bad = Buffer.from(good)
      bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      writeFileSync(file, bad)
      expect(await store.get('k')).toBeUndefined()
    }
    expect(warnings).toHaveLength(good.length * 8)
    expect(warnings[0]).not.toContain('value')
    await store.set('k', 'again')
    expect(await store.get('k')).toBe('again')
  })

  test('an entry that is cut off, emptied or much too large is dropped with a warning', async () => {
    const folder = newFolder()
    const { store } = storeIn(folder)
    await store.set('k', SECRET)
    const file = tokenFiles(folder)[0] as string
    for (const size of [40, 13, 1, 0]) {
      truncateSync(file, size)
      expect(await store.get('k')).toBeUndefined()
    }
    truncateSync(file, 50_000_000)
    expect(await store.get('k')).toBeUndefined()
  })

  test('a file larger than any stored entry is not read into memory', async () => {
    const file = join(newFolder(), 'f')
    for (const [size, read] of [
      [10, 10],
      [11, 0],
    ] as const) {
      writeFileSync(file, Buffer.alloc(size), { mode: 0o600 })
      expect((await readPrivate(file, 10))?.byteLength).toBe(read)
    }
  })

  test('an incomplete key or salt is an error, and is not replaced', async () => {
    const folder = newFolder()
    await storeIn(folder).store.set('k', SECRET)
    truncateSync(join(folder, 'key'), 10)
    await expect(storeIn(folder).store.get('k')).rejects.toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining('Remove it') })
    expect(statSync(join(folder, 'key')).size).toBe(10)
  })

  test('a sealer accepts only complete keys', async () => {
    await expect(sealer(new Uint8Array(16))).rejects.toThrow('32 bytes')
  })
})

describe('bounds', () => {
  test('an entry may be as large as the limit', async () => {
    const { store } = storeIn(newFolder())
    await store.set('k', 'x'.repeat(262_144))
    await expect(store.set('k', `${'x'.repeat(262_143)}ü`)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('more than 262144'),
    })
    expect(await store.get('k')).toBe('x'.repeat(262_144))
  })

  test('the number of entries is bounded, and all may be replaced', async () => {
    const folder = newFolder()
    const { store } = storeIn(folder)
    for (let i = 0; i < 997; i++) writeFileSync(join(folder, `${i}.token`), '', { mode: 0o600 })
    for (const key of ['a', 'b', 'c', 'a', 'c']) await store.set(key, '1')
    await expect(store.set('d', '1')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: `${folder} has 1000 entries, the maximum` })
    await store.delete('b')
    await store.set('d', '1')
  })

  test('leftovers of a process that ended while writing are removed after a while', async () => {
    const folder = newFolder()
    for (const name of ['old.1.tmp', 'new.2.tmp']) writeFileSync(join(folder, name), 'torn', { mode: 0o600 })
    utimesSync(join(folder, 'old.1.tmp'), 0, 0)
    await storeIn(folder).store.set('k', '1')
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual(['new.2.tmp'])
  })
})

describe('a keychain', () => {
  test('a keychain that fails is an error of the store that repeats no secret', async () => {
    const failing: Keychain = {
      read: async () => undefined,
      write: async (_, secret) => Promise.reject(new Error(`cannot write ${secret}`)),
      remove: async () => Promise.reject(new Error('locked')),
    }
    const store = keychainTokenStore({ folder: newFolder(), keychain: failing })
    const error = await store.set('k', SECRET).catch((error: Error) => error)
    expect(error).toMatchObject({ code: 'ERR_STORE' })
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET)
    await expect(store.delete('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
    await expect(storeIn(newFolder(), { keychain: failing }).store.get('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  test('a keychain that does not keep its value is not used', async () => {
    const forgetting: Keychain = { read: async () => undefined, write: async () => {}, remove: async () => {} }
    await expect(storeIn(newFolder(), { keychain: forgetting }).store.get('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
    const strange: Keychain = { ...forgetting, read: async () => 'hello' }
    await expect(storeIn(newFolder(), { keychain: strange }).store.get('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
  })

  test('the keychain of the system is used where there is one, and a file otherwise', async () => {
    const { systemKeychain } = await import('../../../src/auth/store/node/keychain.ts')
    const found = await systemKeychain()
    const folder = newFolder()
    const { store, warnings } = storeIn(folder, { keychain: undefined })
    await store.set('k', SECRET)
    expect(await store.get('k')).toBe(SECRET)
    expect(warnings).toHaveLength(found ? 0 : 1)
    if (found) await found.remove(`tokens in ${folder}`)
    else await expect(keychainTokenStore({ folder }).get('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

describe('by default', () => {
  test('by default the store is in a folder of the user, and warnings are process warnings', async () => {
    const home = newFolder()
    vi.stubEnv('XDG_STATE_HOME', home).stubEnv('LOCALAPPDATA', home).stubEnv('HOME', home)
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      await fileTokenStore({ keychain: false }).set('k', SECRET)
      expect(readdirSync(home, { recursive: true }).some((name) => String(name).endsWith('.token'))).toBe(true)
      expect(warned).toHaveBeenCalledWith(expect.stringContaining('no keychain'), { code: 'PORTICO_TOKENS' })
    } finally {
      vi.unstubAllEnvs()
      warned.mockRestore()
    }
  })

  test('a store touches nothing before it is used', async () => {
    const folder = join(newFolder(), 'x')
    const { store } = storeIn(folder)
    expect(() => statSync(folder)).toThrow()
    mkdirSync(folder, { mode: 0o700 })
    expect(await store.get('k')).toBeUndefined()
  })
})

function memoryKeychain(): { keychain: Keychain; secrets: Map<string, string> } {
  const secrets = new Map<string, string>()
  const keychain = {
    read: async (account: string) => secrets.get(account),
    write: async (account: string, secret: string) => void secrets.set(account, secret),
    remove: async (account: string) => void secrets.delete(account),
  }
  return { keychain, secrets }
}
