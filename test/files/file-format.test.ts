/** Files that newer and older versions of the program wrote. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FileFormat } from '../../src/files/file-format.ts'
import { sharedJson } from '../../src/files/shared-json.ts'
import { openPins } from '../../src/host/approval/pin-store.ts'
import { openGrants } from '../../src/host/consent/grants/grant-store.ts'
import { createHost, STORAGE_PATHS, serverFile } from '../../src/host/index.ts'
import { fileBudgetStore } from '../../src/host/sampling/budget.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

const stored = (text: string): string => {
  const file = join(newFolder(), 'state', 'names.json')
  mkdirSync(dirname(file), { mode: 0o700 })
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** Version 0: a text. Version 1: a list. Version 2: a list of objects. */
const NAMES: FileFormat = {
  version: 2,
  member: 'names',
  upgrades: [(text) => (text as string).split(','), (names) => (names as string[]).map((name) => ({ name }))],
}
const names = (file: string) =>
  sharedJson<{ name: string }[]>(file, { empty: [], format: NAMES, check: (value) => value as { name: string }[] })

describe('a file of an older version', () => {
  test.each([
    ['without a version', '"ada,bob"', 0],
    ['of version 1', '{"version":1,"names":["ada","bob"]}', 1],
  ])('%s is upgraded step by step, and kept as a backup with the first change', async (_, text, version) => {
    const file = stored(text)
    const shared = names(file)
    expect(await shared.read()).toEqual([{ name: 'ada' }, { name: 'bob' }])
    expect(readFileSync(file, 'utf8')).toBe(text)
    await shared.update((all) => [...all, { name: 'eve' }])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 2, names: [{ name: 'ada' }, { name: 'bob' }, { name: 'eve' }] })
    expect(readFileSync(`${file}.v${version}.bak`, 'utf8')).toBe(text)
  })

  test('a file of the current version leaves no backup', async () => {
    const file = stored('{"version":2,"names":[]}')
    await names(file).update(() => [{ name: 'ada' }])
    expect(existsSync(`${file}.v2.bak`)).toBe(false)
  })
})

describe('a file that cannot be used', () => {
  test('a newer version is refused, and the file stays as it is', async () => {
    const text = '{"version":3,"names":{}}'
    const file = stored(text)
    await expect(names(file).read()).rejects.toThrow(
      `${file} cannot be used: it has version 3, and this program reads versions up to 2; update Portico`,
    )
    await expect(names(file).update(() => [])).rejects.toMatchObject({ code: 'ERR_STORE' })
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test.each(['"1"', '0', '-1', '1.5', 'null'])('the version %s is refused', async (version) => {
    const file = stored(`{"version":${version},"names":[]}`)
    await expect(names(file).read()).rejects.toThrow(`expected version: a whole number from 1, got ${version}`)
  })
})

describe('the files of a host', () => {
  test('a folder of a newer version is refused as a whole', async () => {
    const folder = newFolder()
    const host = await createHost({ folder, keychain: false })
    await host.close()
    const file = join(folder, STORAGE_PATHS.format)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1 })
    writeFileSync(file, '{"version":2}', { mode: 0o600 })
    await expect(createHost({ folder, keychain: false })).rejects.toThrow(`${file} cannot be used: it has version 2`)
  })

  const open: [name: string, older: string, open: (file: string) => Promise<unknown>][] = [
    ['grants.json', '[]', async (file) => (await openGrants({ file })).list()],
    ['pins.json', '[]', async (file) => (await openPins({ file })).list()],
    ['budgets.json', '{}', (file) => fileBudgetStore(file).read('a')],
    ['servers.json', '{"mcpServers":{}}', (file) => serverFile(dirname(file)).list()],
  ]

  test.each(open)('%s of a newer version is refused, and one without a version is read', async (name, older, use) => {
    const folder = join(newFolder(), 'state')
    mkdirSync(folder, { mode: 0o700 })
    const file = join(folder, name)
    writeFileSync(file, older, { mode: 0o600 })
    await use(file)
    writeFileSync(file, JSON.stringify({ version: 99, grants: [], servers: [], mcpServers: {} }), { mode: 0o600 })
    await expect(use(file)).rejects.toThrow('it has version 99')
  })
})
