/** Secrets at rest: who can read them, and what becomes of them when something goes wrong. */

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Keychain } from '../../../src/auth/store/options.ts'
import { openVault, type VaultOptions } from '../../../src/host/secrets/vault.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'

const newFolder = temporaryFolders()
const CANARY = 'canary-8f3kq0Zx7LwP2mN5'
const vaultIn = (folder: string, options: VaultOptions = {}) => openVault({ folder, keychain: false, onWarning: () => {}, ...options })
const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name))
const fileOf = (folder: string, name: string) => join(folder, `${Buffer.from(name).toString('hex')}.secret`)

/** One that remembers, as that of a system does. */
function keychain(): Keychain & { entries: Map<string, string> } {
  const entries = new Map<string, string>()
  return {
    entries,
    read: async (account) => entries.get(account),
    write: async (account, secret) => void entries.set(account, secret),
    remove: async (account) => void entries.delete(account),
  }
}

describe('a vault', () => {
  test('a vault stores values by name until they are replaced or removed, and lists the names', async () => {
    const folder = newFolder()
    const vault = await vaultIn(folder)
    expect(await vault.list()).toEqual([])
    await vault.set('github/TOKEN', CANARY)
    await vault.set('Empty', '')
    await vault.set('empty', 'line\nline')
    await vault.set('gone', 'x')
    await vault.delete('gone')
    await vault.delete('gone')
    const again = await vaultIn(folder)
    expect(await again.list()).toEqual(['Empty', 'empty', 'github/TOKEN'])
    expect(await Promise.all(['github/TOKEN', 'Empty', 'empty', 'gone'].map(again.get))).toEqual([CANARY, '', 'line\nline', undefined])
  })

  test('only the owner can read a vault, and every value is encrypted', async () => {
    proves('T-HOST-012')
    const folder = join(newFolder(), 'secrets')
    const vault = await vaultIn(folder)
    await vault.set('a', CANARY)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const file of filesIn(folder)) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(readFileSync(file, 'latin1')).not.toContain(CANARY)
    }
  })

  test('a vault with a key file warns about it, and with a keychain it has no such file', async () => {
    const warnings: string[] = []
    const [plain, ringed] = [newFolder(), newFolder()]
    await vaultIn(plain, { onWarning: (message) => warnings.push(message) })
    expect(warnings).toEqual([expect.stringContaining('no keychain')])
    const ring = keychain()
    await (await vaultIn(ringed, { keychain: ring })).set('a', CANARY)
    expect(readdirSync(ringed)).not.toContain('key')
    expect(await (await vaultIn(ringed, { keychain: ring })).get('a')).toBe(CANARY)
    expect([...ring.entries.values()].join()).not.toContain(CANARY)
  })

  test('a vault refuses names that cannot stand in a placeholder, and values and numbers beyond its limits', async () => {
    const folder = newFolder()
    const vault = await vaultIn(folder)
    for (const name of ['', 'a b', '../x', 'a}', 'a:b', 'ä', 'x'.repeat(101), 'is this the key?']) {
      await expect(vault.set(name, 'x')).rejects.toMatchObject({ code: 'ERR_SECRET' })
      await expect(vault.get(name)).rejects.toMatchObject({ code: 'ERR_SECRET' })
    }
    await vault.set('x'.repeat(100), 'x'.repeat(65_536))
    await expect(vault.set('b', 'x'.repeat(65_537))).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('more than 65536'),
    })
    await vault.set('b', 'x')
    for (let i = 0; i < 997; i++) writeFileSync(join(folder, `${Buffer.from(`n${i}`).toString('hex')}.secret`), '', { mode: 0o600 })
    await expect(vault.set('c', 'x')).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('entries, the maximum') })
    await vault.set('b', 'y')
  })
})

describe('damaged and foreign data', () => {
  test('a value with one changed bit is an error, and other values stay readable', async () => {
    const folder = newFolder()
    const vault = await vaultIn(folder)
    await vault.set('a', CANARY)
    await vault.set('b', 'whole')
    const file = fileOf(folder, 'a')
    const sealed = readFileSync(file)
    for (let bit = 0; bit < sealed.length * 8; bit += 7) {
      const flipped = Buffer.from(sealed)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      writeFileSync(file, flipped)
      const error = await vault.get('a').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'ERR_SECRET', message: expect.stringContaining('The secret a cannot be decrypted') })
      expect(inspect(error, { depth: null })).not.toContain(CANARY)
    }
    writeFileSync(file, '')
    await expect(vault.get('a')).rejects.toMatchObject({ code: 'ERR_SECRET' })
    expect(await vault.get('b')).toBe('whole')
    await vault.set('a', 'anew')
    expect(await vault.get('a')).toBe('anew')
  })

  test('a value cannot be moved to the name of another', async () => {
    const folder = newFolder()
    const vault = await vaultIn(folder)
    await vault.set('a', 'of a')
    await vault.set('b', 'of b')
    writeFileSync(fileOf(folder, 'b'), readFileSync(fileOf(folder, 'a')))
    await expect(vault.get('b')).rejects.toMatchObject({ code: 'ERR_SECRET' })
  })

  test('a wrong passphrase or a lost keychain key is an error at once, and nothing is written', async () => {
    const folder = newFolder()
    await (await vaultIn(folder, { passphrase: 'correct horse' })).set('a', CANARY)
    const before = readdirSync(folder)
    await expect(vaultIn(folder, { passphrase: 'battery staple' })).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringContaining('another passphrase or key'),
    })
    expect(readdirSync(folder)).toEqual(before)
    expect(await (await vaultIn(folder, { passphrase: 'correct horse' })).get('a')).toBe(CANARY)

    const ringed = newFolder()
    await vaultIn(ringed, { keychain: keychain() })
    await expect(vaultIn(ringed, { keychain: keychain() })).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

test('processes that share a vault create one key, lose no value and never reuse a name', async () => {
  const folder = newFolder()
  const module = await bundled('src/host/secrets/vault.ts', newFolder())
  const program = fileURLToPath(new URL('fixtures/secret-keeper.mjs', import.meta.url))
  const names = ['one', 'two', 'three']
  const run = promisify(execFile)
  const said = await Promise.all(names.map((name) => run(process.execPath, [program, module, folder, name, '10'])))
  const vault = await vaultIn(folder)
  for (const name of names) for (let i = 0; i < 10; i++) expect(await vault.get(`${name}/${i}`)).toBe(`${name} ${i}`)
  const shared = said.map(({ stdout }) => stdout)
  expect([...shared].sort()).toEqual(['shared', 'shared-2', 'shared-3'])
  for (const [i, name] of shared.entries()) expect(await vault.get(name)).toBe(`value of ${names[i]}`)
})
