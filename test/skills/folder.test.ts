/** Folders that cannot be served: the error says which file is wrong, and where. Nothing outside of the folder is ever read. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, openSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type SkillsOptions } from '../../src/server/index.ts'
import { readFrontmatter } from '../../src/skills/frontmatter.ts'
import { SKILL_LIMITS } from '../../src/skills/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { cpuClock } from '../support/linear.ts'
import { proves } from '../support/proves.ts'
import { clientOf, skillText, writeFiles } from './skill-files.ts'

const newFolder = temporaryFolders()

const skills = (folder: string | URL, options?: SkillsOptions): Promise<void> =>
  createServer({ name: 's', version: '1' }).skills(folder, options)

const refused = async (files: Readonly<Record<string, string | Uint8Array>>): Promise<string> => {
  const folder = writeFiles(newFolder(), files)
  return skills(folder).then(
    () => 'served',
    (error: Error & { code: string }) => `${error.code} ${error.message.replaceAll(folder, 'FOLDER')}`,
  )
}

describe('a SKILL.md that is not valid', () => {
  test.each([
    ['no frontmatter', 'Just text\n', 'a/SKILL.md, line 1: expected the file to begin with a line of three hyphens'],
    ['no end', '---\nname: a\n', 'a/SKILL.md, line 1: the frontmatter must end with a line of three hyphens'],
    ['bad YAML', '---\nname: a\ndescription: "x\nlicense: 1\n---\n', 'a/SKILL.md, line 5: the frontmatter cannot be read as YAML'],
    [
      'a name twice',
      '---\nname: a\ndescription: d\nname: b\n---\n',
      'a/SKILL.md, line 4: the frontmatter cannot be read as YAML: Map keys must be unique',
    ],
    ['an unknown tag', '---\nname: a\ndescription: !run ls\n---\n', 'a/SKILL.md, line 3: the frontmatter cannot be read as YAML'],
    ['no description', '---\nname: a\n---\n', 'a/SKILL.md, line 2: the frontmatter needs a description, a text'],
    ['an empty description', '---\nname: a\ndescription: " "\n---\n', 'a/SKILL.md, line 3: the frontmatter needs a description, a text'],
    ['a name in capitals', '---\ndescription: d\nname: A\n---\n', 'a/SKILL.md, line 3: the name must have 1 to 64 lower-case letters'],
    [
      'a name with a Cyrillic letter',
      '---\nname: а\ndescription: d\n---\n',
      'a/SKILL.md, line 2: the name must have 1 to 64 lower-case letters',
    ],
    ['a name with dots', '---\nname: ..\ndescription: d\n---\n', 'a/SKILL.md, line 2: the name must have 1 to 64 lower-case letters'],
    ['another name', skillText('b'), 'a/SKILL.md: the name is "b", but the folder is "a"; they must be equal'],
    ['a list', '---\n- a\n---\n', 'a/SKILL.md, line 2: the frontmatter must have the members name and description'],
    [
      'infinity',
      '---\nname: a\ndescription: d\nsize: .inf\n---\n',
      'a/SKILL.md, line 2: the frontmatter has a value that JSON cannot have: Infinity',
    ],
    ['a prototype', '---\nname: a\ndescription: d\n__proto__: {x: 1}\n---\n', 'a value that JSON cannot have: /__proto__'],
    [
      'a long description',
      `---\nname: a\ndescription: ${'d'.repeat(1025)}\n---\n`,
      'the description has 1025 characters; the limit is 1024',
    ],
  ])('is refused with the file and the line: %s', async (_what, text, expected) => {
    proves('R-SKILL-004', 'R-SKILL-006')
    const message = await refused({ 'a/SKILL.md': text })
    expect(message).toContain('ERR_DEFINITION The skills in FOLDER cannot be served: ')
    expect(message).toContain(expected)
  })

  test('is refused if it nests too deeply, repeats without end, is too long, or is not UTF-8', async () => {
    const deep = `---\nname: a\ndescription: d\nx: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n---\n`
    expect(await refused({ 'a/SKILL.md': deep })).toContain('a/SKILL.md')
    const laughs = Array.from(
      { length: 9 },
      (_, at) =>
        `l${at}: &l${at} [${Array(9)
          .fill(at === 0 ? 'x' : `*l${at - 1}`)
          .join(', ')}]`,
    )
    expect(await refused({ 'a/SKILL.md': `---\nname: a\ndescription: d\n${laughs.join('\n')}\n---\n` })).toContain('cannot be read as YAML')
    expect(await refused({ 'a/SKILL.md': `---\nname: a\ndescription: d\nx: ${'y'.repeat(70_000)}\n---\n` })).toContain(
      'within 65536 characters',
    )
    expect(await refused({ 'a/SKILL.md': new Uint8Array([0x2d, 0x2d, 0x2d, 0xff]) })).toContain('a/SKILL.md is not UTF-8 text')
  })

  test('may begin with a byte order mark, have Windows line ends, and values that look like lines', async () => {
    const text = '\u{feff}---\r\nname: a\r\ndescription: |\r\n  Uses\r\n  lines\r\n---\r\nText\r\n---\r\n'
    expect(await refused({ 'a/SKILL.md': text })).toBe('served')
  })

  test('names two skills of one name in a warning', async () => {
    proves('R-SKILL-020')
    const warnings: string[] = []
    const folder = writeFiles(newFolder(), { 'one/a/SKILL.md': skillText('a'), 'two/a/SKILL.md': skillText('a') })
    await skills(folder, { onWarning: (text) => warnings.push(text) })
    expect(warnings).toEqual(['Two skills have the name a: skill://one/a/SKILL.md and skill://two/a/SKILL.md'])
  })
})

describe('a folder that cannot be served', () => {
  test('says what is wrong: missing, a file, without skills', async () => {
    const folder = writeFiles(newFolder(), { 'README.md': 'x' })
    await expect(skills(join(folder, 'none'))).rejects.toThrow(/cannot be read \(ENOENT\)/)
    await expect(skills(join(folder, 'README.md'))).rejects.toThrow(/Expected a folder of skills, got the file/)
    await expect(skills(folder)).rejects.toThrow(/has no skills: expected folders with a file SKILL\.md/)
    await expect(skills('')).rejects.toThrow('server.skills(folder): expected a path or a file: URL, got ""')
    await expect(skills(undefined as never)).rejects.toThrow('expected a path or a file: URL, got undefined')
    await expect(skills(new URL('https://example.com/skills'))).rejects.toThrow('a file: URL, got https://example.com/skills')
  })

  test('is explained if it is a relative path, because clients start programs in other folders', async () => {
    const hint = "a relative path begins at the working folder; new URL('./skills', import.meta.url) is next to your program"
    await expect(skills('no-such-folder')).rejects.toThrow(`no-such-folder cannot be read (ENOENT); ${hint}`)
    for (const folder of [join(newFolder(), 'none'), pathToFileURL(join(newFolder(), 'none'))])
      await expect(skills(folder)).rejects.toThrow(/none cannot be read \(ENOENT\)$/)
  })

  test('can be named by a URL, also as text', async () => {
    const url = pathToFileURL(writeFiles(newFolder(), { 'a b/a/SKILL.md': skillText('a') }))
    await expect(skills(url)).resolves.toBeUndefined()
    await expect(skills(`${url.href}/a%20b`)).resolves.toBeUndefined()
  })

  test('has symbolic links: to a file, to a folder, to itself, out of the folder', async () => {
    const outside = writeFiles(newFolder(), { 'secret.txt': 'secret' })
    const links: [string, string][] = [
      ['a/link.md', 'SKILL.md'],
      ['a/out.txt', join(outside, 'secret.txt')],
      ['a/loop', '..'],
      ['b', outside],
    ]
    for (const [path, target] of links) {
      const folder = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a') })
      symlinkSync(target, join(folder, path))
      await expect(skills(folder), path).rejects.toThrow(`${path} is a symbolic link; a skill can contain only files and folders`)
    }
  })

  test('has pipes', async () => {
    const folder = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a') })
    execFileSync('mkfifo', [join(folder, 'a/pipe')])
    await expect(skills(folder)).rejects.toThrow('a/pipe is neither a file nor a folder')
  })

  test('has a file of 100 MB, or too many bytes together', async () => {
    proves('R-SKILL-028')
    const folder = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a') })
    openSync(join(folder, 'a/big.bin'), 'w')
    truncateSync(join(folder, 'a/big.bin'), 100_000_000)
    await expect(skills(folder)).rejects.toThrow('a/big.bin has 100000000 bytes; a skill may have 16777216')
    truncateSync(join(folder, 'a/big.bin'), SKILL_LIMITS.maxBytes)
    await expect(skills(folder)).rejects.toThrow('a has more than 16777216 bytes in all its files')
    truncateSync(join(folder, 'a/big.bin'), SKILL_LIMITS.maxBytes - skillText('a').length)
    await expect(skills(folder)).resolves.toBeUndefined()
  })

  test('has more than 512 files, and one with 512 is served', async () => {
    proves('R-SKILL-027', 'R-SKILL-028')
    const files = Object.fromEntries(Array.from({ length: 511 }, (_, at) => [`a/${at}.md`, String(at)]))
    const folder = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a'), ...files })
    const server = createServer({ name: 's', version: '1' })
    await server.skills(folder)
    const { skills: found, close } = await clientOf(server)
    const loaded = await found.load('skill://a/SKILL.md')
    expect(loaded.files).toHaveLength(512)
    expect((await loaded.read('510.md')).text).toBe('510')
    await close()
    await server.close()
    writeFiles(folder, { 'a/one-more.md': '' })
    await expect(skills(folder)).rejects.toThrow('a has 513 files; a skill may have 512')
  })

  test('has too many files and folders, or folders without end', async () => {
    const folder = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a') })
    for (let at = 0; at < 100; at++) mkdirSync(join(folder, String(at)))
    await expect(skills(folder, { maxEntries: 101 })).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('more than 101 files and folders (maxEntries)'),
    })
    await expect(skills(folder, { maxEntries: 102 })).resolves.toBeUndefined()
    const deep = writeFiles(newFolder(), { 'a/SKILL.md': skillText('a'), [`a/${'x/'.repeat(20)}y.md`]: '' })
    await expect(skills(deep)).rejects.toThrow('is more than 16 folders deep')
  })

  test('leaves out names that begin with a dot, and encodes strange names', async () => {
    const folder = writeFiles(newFolder(), {
      'a/SKILL.md': skillText('a'),
      'a/.env': 'SECRET=1',
      'a/.git/config': 'x',
      'a/50% off?#1 ä.md': 'odd',
    })
    const server = createServer({ name: 's', version: '1' })
    await server.skills(folder)
    const { client, skills: found, close } = await clientOf(server)
    const loaded = await found.load('skill://a/SKILL.md')
    expect(loaded.files).toEqual(['50% off?#1 ä.md', 'SKILL.md'])
    expect((await loaded.read('50% off?#1 ä.md')).text).toBe('odd')
    await expect(client.read('skill://a/.env')).rejects.toMatchObject({ code: -32602 })
    await close()
    await server.close()
  })
})

describe('a folder that changes while it is served', () => {
  async function served(files: Readonly<Record<string, string>>) {
    const folder = writeFiles(newFolder(), files)
    const server = createServer({ name: 's', version: '1', onError: () => {} })
    await server.skills(folder, { watch: false, onWarning: () => {} })
    const { client, skills: found, close } = await clientOf(server)
    onTestFinished(async () => {
      await close()
      await server.close()
    })
    return { folder, client, found }
  }

  test('never leads out of itself: a file becomes a link, or a folder above it does', async () => {
    const outside = writeFiles(newFolder(), { 'x.md': 'secret', 'sub/x.md': 'secret' })
    const { folder, client } = await served({ 'a/SKILL.md': skillText('a'), 'a/sub/x.md': 'public', 'a/y.md': 'public' })
    rmSync(join(folder, 'a/y.md'))
    symlinkSync(join(outside, 'x.md'), join(folder, 'a/y.md'))
    await expect(client.read('skill://a/y.md')).rejects.toMatchObject({ code: -32602 })
    rmSync(join(folder, 'a/y.md'))
    renameSync(join(folder, 'a/sub'), join(folder, 'a/was'))
    symlinkSync(join(outside, 'sub'), join(folder, 'a/sub'))
    await expect(client.read('skill://a/sub/x.md')).rejects.toMatchObject({ code: -32602 })
  })

  test('does not serve a file that grew beyond the limits, or is gone', async () => {
    const { folder, client, found } = await served({ 'a/SKILL.md': skillText('a'), 'a/x.md': 'x', 'b/SKILL.md': skillText('b') })
    truncateSync(join(folder, 'a/x.md'), 100_000_000)
    await expect(client.read('skill://a/x.md')).rejects.toMatchObject({ code: -32602 })
    expect((await found.list().all()).map(({ uri }) => uri)).toEqual(['skill://b/SKILL.md'])
    rmSync(join(folder, 'b'), { recursive: true })
    await expect(client.read('skill://b/SKILL.md')).rejects.toMatchObject({ code: -32602 })
    expect(await found.list().all()).toEqual([])
  })

  test('serves only bytes that the newest entry describes', async () => {
    proves('R-SKILL-018', 'R-SKILL-024')
    const { folder, client, found } = await served({ 'a/SKILL.md': skillText('a'), 'a/x.md': 'one' })
    const changed: string[] = []
    await client.onChange('resources', () => changed.push('list'))
    writeFileSync(join(folder, 'a/x.md'), 'two')
    expect((await client.read('skill://a/x.md')).contents[0]).toMatchObject({ text: 'two' })
    const loaded = await found.load('skill://a/SKILL.md')
    expect((await loaded.read('x.md')).text).toBe('two')
    expect(loaded.entry.resources).not.toBe('dynamic')
    expect(changed.length).toBeGreaterThan(0)
  })
})

test('frontmatter with thousands of keys is read at once, and a key that is there twice is found', async () => {
  const keys = Array.from({ length: 9_000 }, (_, at) => `k${at}:`).join('\n')
  const passed = cpuClock()
  await readFrontmatter(`---\nname: x\ndescription: y\n${keys}\n---\n`).catch(() => {})
  expect(passed()).toBeLessThan(1_000)
  await expect(readFrontmatter(`---\nname: x\ndescription: y\n${keys}\nk7:\n---\n`)).rejects.toThrow('Map keys must be unique')
})
