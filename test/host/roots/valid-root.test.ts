import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { findRootFault, validRoot } from '../../../src/host/roots/valid-root.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { proves } from '../../support/proves.ts'

const newFolder = temporaryFolders()
const folder = (): string => realpathSync(newFolder())

describe('a root', () => {
  test('a root is an existing directory, given as a path or a file URI', async () => {
    proves('T-ROOT-025')
    const path = join(folder(), 'my work')
    mkdirSync(path)
    const root = { uri: pathToFileURL(path).href, path, name: 'my work' }
    expect(await validRoot(path)).toEqual(root)
    expect(await validRoot(`${path}/`)).toEqual(root)
    expect(await validRoot(root.uri)).toEqual(root)
    expect(await validRoot(path, 'Work')).toEqual({ ...root, name: 'Work' })
  })

  test('a root is shown by its real path, so that the person sees which directory it is', async () => {
    const where = folder()
    mkdirSync(join(where, 'real'))
    symlinkSync(join(where, 'real'), join(where, 'link'))
    expect((await validRoot(join(where, 'link'))).path).toBe(join(where, 'real'))
  })

  test.each([
    ['relative/path', 'expected a file URI or an absolute path'],
    ['', 'expected a file URI'],
    ['https://example.com/x', 'expected a file URI'],
    ['file://elsewhere/x', 'another machine'],
    ['file:///a/../etc', '"." or ".." segments'],
    ['file:///a/%2e%2e/etc', '"." or ".." segments'],
    ['file:///a%2f..%2fetc', '"." or ".." segments'],
    ['file:///a?b', 'query or a fragment'],
    ['/a/../etc', '"." or ".." segments'],
    ['/a/./b', '"." or ".." segments'],
    ['/a\0b', 'NUL'],
    ['file:///a%00b', '"." or ".." segments'],
    ['/nowhere/at/all', 'no such directory'],
  ])('the text %j is not a root', async (given, reason) => {
    proves('T-ROOT-011', 'T-ROOT-017')
    await expect(validRoot(given)).rejects.toMatchObject({ code: 'ERR_CONFIG', message: expect.stringContaining(reason) })
  })

  test('a file is not a root', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(validRoot(file)).rejects.toMatchObject({ message: expect.stringContaining('not a directory') })
  })

  test('a root must be readable', async () => {
    proves('T-ROOT-016')
    const where = folder()
    const closed = join(where, 'closed')
    mkdirSync(closed)
    expect(await findRootFault(closed)).toBeUndefined()
    chmodSync(where, 0o755)
    chmodSync(closed, 0o000)
    expect(await asNobodySpecial(where, closed)).toBe('you have no permission to read it')
  })
})

/** Looks at a path without the powers of the superuser, to whom nothing is closed. */
async function asNobodySpecial(where: string, path: string): Promise<string> {
  const outfile = join(where, 'valid-root.mjs')
  const entry = fileURLToPath(new URL('../../../src/host/roots/valid-root.ts', import.meta.url))
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'silent' })
  const script = `import(${JSON.stringify(outfile)}).then(async ({ findRootFault }) => console.log(await findRootFault(${JSON.stringify(path)})))`
  const isRoot = process.getuid?.() === 0
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: where,
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  })
  return stdout.trim()
}
