import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { type FilesOptions, filesServer } from '../../src/demo/files/server.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import type { Server } from '../../src/server/index.ts'
import { type PairOptions, pair, rehearse } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'

const temporary = temporaryFolders()
const versions = REVISIONS.map(({ version }) => version)

function folderWith(files: Record<string, string | Uint8Array>): string {
  const folder = temporary()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

async function started(options: FilesOptions, pairing: PairOptions = {}): Promise<{ client: Client; server: Server }> {
  const server = await filesServer(options)
  const { client, close } = await pair(server, { cache: false, ...pairing })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  return { client, server }
}

/** The structured result of a tool. An error result fails the test. */
async function done<T>(client: Client, tool: string, args: Record<string, unknown>): Promise<T> {
  const { structuredContent, content, isError } = await client.call<T>(tool, args)
  if (isError) throw new Error(JSON.stringify(content))
  const [first] = content
  return structuredContent ?? (JSON.parse(first?.type === 'text' ? first.text : 'null') as T)
}

/** The text of an error result. A success fails the test. */
async function refusal(client: Client, tool: string, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.call(tool, args)
  if (!isError) throw new Error(`Expected ${tool} to fail, got ${JSON.stringify(content)}`)
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

interface ReadResult {
  size: number
  hash: string
  isCut: boolean
  text?: string
  base64?: string
}

describe.each(versions)('in %s', (revision) => {
  test('a file is written, read, edited, found, moved and removed', async () => {
    const folder = folderWith({})
    const { client } = await started({ folders: [folder] }, { revision })
    await client.call('write', { path: 'notes/plan.md', content: '# Plan\nship it\n', createFolders: true })
    expect(readFileSync(join(folder, 'notes/plan.md'), 'utf8')).toBe('# Plan\nship it\n')
    const { content } = await client.call('read', { path: 'notes/plan.md' })
    expect(content).toEqual([{ type: 'text', text: '# Plan\nship it\n' }])
    await client.call('edit', { path: 'notes/plan.md', edits: [{ old: 'ship it', new: 'test it' }] })
    const found = await client.call('search', { query: 'TEST it' })
    expect(JSON.stringify(found.content)).toContain('notes/plan.md')
    await client.call('move', { from: 'notes/plan.md', to: 'plan.md' })
    const listed = await client.call('list', {})
    expect(JSON.stringify(listed.content)).toContain('plan.md')
    const uri = pathToFileURL(join(folder, 'plan.md')).href
    const { contents } = await client.read(uri)
    expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown', text: '# Plan\ntest it\n' }])
    await client.call('remove', { path: 'plan.md' })
    expect(readdirSync(folder)).toEqual(['notes'])
  })
})

describe('reading', () => {
  test('a range of bytes or lines is returned, and isCut shows that there is more', async () => {
    const folder = folderWith({ 'a.txt': 'one\ntwo\nthree\n', 'u.txt': 'aé', 'b.bin': new Uint8Array([0, 1, 255]) })
    const { client } = await started({ folders: [folder] })
    const read = (args: object) => done<ReadResult>(client, 'read', { path: 'a.txt', ...args })
    expect(await read({})).toMatchObject({ text: 'one\ntwo\nthree\n', isCut: false, size: 14 })
    expect(await read({ offset: 4, length: 3 })).toMatchObject({ text: 'two', isCut: true })
    expect(await read({ line: 2, lines: 1 })).toMatchObject({ text: 'two\n', isCut: true })
    expect(await read({ line: 3 })).toMatchObject({ text: 'three\n' })
    expect(await read({ offset: 100 })).toMatchObject({ text: '' })
    expect(await read({ path: 'u.txt', length: 2 })).toMatchObject({ text: 'a' })
    expect(await read({ path: 'b.bin' })).toMatchObject({ base64: 'AAH/', isCut: false })
    expect(await refusal(client, 'read', { path: 'a.txt', line: 9 })).toBe('There is no line 9; the last line is 4')
    expect(await refusal(client, 'read', { path: 'a.txt', line: 1, offset: 1 })).toContain('bytes or of lines, got both')
  })

  test('content larger than one answer is returned in parts', async () => {
    const folder = folderWith({ 'at.txt': 'x'.repeat(100), 'over.txt': 'x'.repeat(101), 'large.txt': 'y'.repeat(300) })
    const { client } = await started({ folders: [folder], limits: { maxReadBytes: 100, maxFileBytes: 200 } })
    expect(await done<ReadResult>(client, 'read', { path: 'at.txt' })).toMatchObject({ isCut: false })
    expect(await done<ReadResult>(client, 'read', { path: 'over.txt' })).toMatchObject({ isCut: true, text: 'x'.repeat(100), size: 101 })
    expect(await done<ReadResult>(client, 'read', { path: 'large.txt', offset: 250 })).toMatchObject({ text: 'y'.repeat(50), size: 300 })
    expect(await refusal(client, 'read', { path: 'large.txt', line: 1 })).toContain('maxFileBytes')
    await expect(client.read(pathToFileURL(join(folder, 'over.txt')).href)).rejects.toThrow('maxReadBytes')
  })

  test('a folder is listed in order, in parts, and to the requested depth', async () => {
    const folder = folderWith({ 'b.txt': '', 'a/1.txt': '12', 'a/2/3.txt': '' })
    symlinkSync('/etc', join(folder, 'c'))
    const { client } = await started({ folders: [folder] })
    const list = async (args: Record<string, unknown>) =>
      (await done<{ entries: { path: string; kind: string }[] }>(client, 'list', args)).entries
    expect((await list({})).map(({ path, kind }) => `${path} ${kind}`)).toEqual(['a folder', 'b.txt file', 'c link'])
    expect((await list({ depth: 2 })).map(({ path }) => path)).toEqual(['a', 'a/1.txt', 'a/2', 'b.txt', 'c'])
    expect((await list({ path: 'a' }))[0]).toMatchObject({ path: 'a/1.txt', size: 2 })
    expect(await done(client, 'list', { offset: 1, limit: 1 })).toMatchObject({ entries: [{ path: 'b.txt' }], hasMore: true })
    expect(await done(client, 'stat', { path: 'c' })).toMatchObject({ kind: 'link' })
    expect(await done(client, 'stat', { path: '.' })).toMatchObject({ kind: 'folder' })
  })

  test('a search returns matches within its limits, and can be cancelled', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}.txt`, `line\nneedle ${i}\n`]))
    const folder = folderWith({ ...files, 'x.bin': new Uint8Array([0, 1]) })
    const { client } = await started({ folders: [folder], limits: { maxMatches: 50 } })
    const found = await done<{ matches: { path: string; line?: number }[]; isCut: boolean }>(client, 'search', { query: 'NEEDLE 299' })
    expect(found).toEqual({ matches: [{ path: 'd5/f299.txt', line: 2, text: 'needle 299' }], isCut: false, skipped: 1 })
    expect(await done(client, 'search', { query: 'NEEDLE 299', matchCase: true })).toMatchObject({ matches: [] })
    const many = await done<typeof found>(client, 'search', { query: 'needle' })
    expect([many.matches.length, many.isCut]).toEqual([50, true])
    expect(await done<typeof found>(client, 'search', { query: 'f29', in: 'name', path: 'd1' })).toMatchObject({
      matches: [{ path: 'd1/f29.txt' }, { path: 'd1/f295.txt' }],
    })
    const cancel = new AbortController()
    const call = client.call('search', { query: 'nowhere' }, { signal: cancel.signal, onProgress: () => cancel.abort() })
    await expect(call).rejects.toThrow()
    const { client: bounded } = await started({ folders: [folder], limits: { maxVisited: 100 } })
    expect(await refusal(bounded, 'search', { query: 'nowhere' })).toContain('more than 100 entries (maxVisited)')
  })
})

test('one list, one search and one removal are limited', async () => {
  const folder = folderWith({ '1/2/3/needle.txt': 'needle', 'a.txt': 'aaaa', 'b.txt': 'bbbb', 'c.txt': 'needle' })
  const { client } = await started({ folders: [folder], limits: { maxEntries: 2, maxDepth: 3, maxSearchBytes: 7, maxVisited: 6 } })
  expect(await done(client, 'list', {})).toMatchObject({ entries: [{ path: '1' }, { path: 'a.txt' }], hasMore: true })
  expect(await refusal(client, 'list', { limit: 3 })).toContain('limit')
  // The first match is below maxDepth, the second one after maxSearchBytes.
  expect(await done(client, 'search', { query: 'needle' })).toEqual({ matches: [], isCut: true, skipped: 0 })
  expect(await done(client, 'search', { query: 'needle', suffix: 'c.txt' })).toMatchObject({ matches: [{ path: 'c.txt' }] })
  writeFileSync(join(folder, 'd.txt'), '')
  expect(await refusal(client, 'search', { query: 'needle' })).toContain('maxVisited')
  for (let i = 0; i < 7; i++) writeFileSync(join(folder, '1', `${i}.txt`), '')
  expect(await refusal(client, 'remove', { path: '1', recursive: true })).toContain('maxVisited')
  expect(readdirSync(join(folder, '1'))).toHaveLength(8)
})

describe('writing', () => {
  test('an existing file is replaced only after it was read, or with an explicit flag', async () => {
    const folder = folderWith({ 'a.txt': 'one' })
    chmodSync(join(folder, 'a.txt'), 0o640)
    const { client } = await started({ folders: [folder] })
    expect(await refusal(client, 'write', { path: 'a.txt', content: 'two' })).toContain('already exists')
    const { hash } = await done<ReadResult>(client, 'read', { path: 'a.txt' })
    expect(await done(client, 'write', { path: 'a.txt', content: 'two', hash })).toMatchObject({ isNew: false })
    expect(await refusal(client, 'write', { path: 'a.txt', content: 'three', hash })).toContain('changed since')
    expect(await refusal(client, 'write', { path: 'gone.txt', content: 'three', hash })).toContain('no longer exists')
    await done(client, 'write', { path: 'a.txt', content: 'AAH/', encoding: 'base64', overwrite: true })
    expect([...readFileSync(join(folder, 'a.txt'))]).toEqual([0, 1, 255])
    expect(statSync(join(folder, 'a.txt')).mode & 0o777).toBe(0o640)
    expect(await refusal(client, 'write', { path: 'b.txt', content: '!!', encoding: 'base64' })).toContain('not valid base64')
    expect(readdirSync(folder)).toEqual(['a.txt'])
  })

  test('no edit is lost when several happen at the same time', async () => {
    const folder = folderWith({ 'a.txt': Array.from({ length: 50 }, (_, i) => `<${i}>`).join('') })
    const { client } = await started({ folders: [folder] })
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => done(client, 'edit', { path: 'a.txt', edits: [{ old: `<${i}>`, new: `(${i})` }] })),
    )
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe(Array.from({ length: 50 }, (_, i) => `(${i})`).join(''))
  })

  test('only one of many callers creates the same file', async () => {
    const folder = folderWith({})
    const clients = await Promise.all([started({ folders: [folder] }), started({ folders: [folder] })])
    const tries = clients.flatMap(({ client }) =>
      Array.from({ length: 10 }, (_, i) => client.call('write', { path: 'a.txt', content: `${i}` })),
    )
    expect((await Promise.all(tries)).filter(({ isError }) => !isError)).toHaveLength(1)
  })

  test('a reader never sees half a file', async () => {
    const folder = folderWith({ 'a.txt': 'a'.repeat(200_000) })
    const { client } = await started({ folders: [folder] })
    const writing = (async () => {
      for (let i = 0; i < 50; i++)
        await done(client, 'write', { path: 'a.txt', content: 'abcde'.charAt(i % 5).repeat(200_000), overwrite: true })
    })()
    let isOver = false
    void writing.finally(() => {
      isOver = true
    })
    while (!isOver) {
      const text = readFileSync(join(folder, 'a.txt'), 'utf8')
      expect(text === text.charAt(0).repeat(200_000)).toBe(true)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await writing
  })

  test('edits need exact text, are all made or none, and can be previewed', async () => {
    const folder = folderWith({ 'a.txt': 'a\nb\nc\nb\nd\n', 'b.bin': new Uint8Array([0]) })
    const { client } = await started({ folders: [folder] })
    const edit = (edits: object[], more = {}) => ({ path: 'a.txt', edits, ...more })
    expect(await refusal(client, 'edit', edit([{ old: 'x', new: 'y' }]))).toContain('not in the file')
    expect(await refusal(client, 'edit', edit([{ old: 'b', new: 'y' }]))).toContain('occurs 2 times')
    expect(
      await refusal(
        client,
        'edit',
        edit([
          { old: 'a', new: 'A' },
          { old: 'x', new: 'y' },
        ]),
      ),
    ).toContain('Edit 2')
    expect(await refusal(client, 'edit', { path: 'b.bin', edits: [{ old: 'x', new: 'y' }] })).toContain('not a text file')
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a\nb\nc\nb\nd\n')
    const dry = await done<{ diff: string; isDone: boolean }>(client, 'edit', edit([{ old: 'c\n', new: '$&\n' }], { dryRun: true }))
    expect(dry).toMatchObject({ isDone: false, diff: '@@ -1,6 +1,6 @@\n a\n b\n-c\n+$&\n b\n d\n ' })
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toContain('c\n')
    await done(client, 'edit', edit([{ old: 'b', new: 'B', all: true }]))
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('a\nB\nc\nB\nd\n')
  })

  test('content over the size limit is refused, and content at the limit is written', async () => {
    const folder = folderWith({})
    const { client } = await started({ folders: [folder], limits: { maxFileBytes: 10 } })
    await done(client, 'write', { path: 'a.txt', content: 'x'.repeat(10) })
    expect(await refusal(client, 'write', { path: 'b.txt', content: 'x'.repeat(11) })).toContain('maxFileBytes')
    expect(await refusal(client, 'edit', { path: 'a.txt', edits: [{ old: 'x', new: 'xx', all: true }] })).toContain('maxFileBytes')
  })

  test('edits that double the text are refused as soon as it would be too large', async () => {
    const folder = folderWith({ 'a.txt': 'x' })
    const { client } = await started({ folders: [folder], limits: { maxFileBytes: 1024 * 1024 } })
    const doubling = (times: number) => ({
      path: 'a.txt',
      edits: Array.from({ length: times }, () => ({ old: 'x', new: 'xx', all: true })),
    })
    for (const times of [21, 30, 40, 100])
      expect(await refusal(client, 'edit', doubling(times))).toBe(
        'Edit 21: the content would have 2097152 bytes; the limit is 1048576 (maxFileBytes)',
      )
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('x')
    // The file has the maximum size, and the diff is cut.
    const { diff } = await done<{ diff: string }>(client, 'edit', doubling(20))
    expect(statSync(join(folder, 'a.txt')).size).toBe(1024 * 1024)
    expect(diff.length).toBeLessThan(300_000)
    expect(diff).toMatch(/\n\.\.\. and \d+ more characters$/)
  })

  test('edits may grow and shrink a text if it fits after each of them', async () => {
    const folder = folderWith({ 'a.txt': 'äx' })
    const { client } = await started({ folders: [folder], limits: { maxFileBytes: 10 } })
    const edits = [
      { old: 'x', new: 'y'.repeat(8) },
      { old: 'y', new: '', all: true },
      { old: 'ä', new: 'ö'.repeat(5) },
    ]
    await done(client, 'edit', { path: 'a.txt', edits })
    expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('ööööö')
    expect(await refusal(client, 'edit', { path: 'a.txt', edits: [{ old: 'öö', new: 'ööa', all: true }] })).toContain('12 bytes')
  })

  test('a file with millions of empty lines can be searched and edited', async () => {
    const folder = folderWith({ 'a.txt': `${'\n'.repeat(3_000_000)}end` })
    const { client } = await started({ folders: [folder] })
    expect(await done(client, 'search', { query: 'end' })).toMatchObject({ matches: [{ line: 3_000_001, text: 'end' }] })
    const { diff } = await done<{ diff: string }>(client, 'edit', { path: 'a.txt', edits: [{ old: 'end', new: 'END' }] })
    expect(diff).toBe('... too many lines to compare')
  })

  test('a move replaces a file only with overwrite', async () => {
    const folder = folderWith({ 'a.txt': 'a', 'b.txt': 'b', 'd/x.txt': '' })
    const { client } = await started({ folders: [folder] })
    expect(await refusal(client, 'move', { from: 'a.txt', to: 'b.txt' })).toBe('b.txt already exists')
    expect(await refusal(client, 'move', { from: 'a.txt', to: 'd', overwrite: true })).toContain('d is a folder')
    expect(await refusal(client, 'move', { from: 'd', to: 'd/e' })).toContain('cannot be moved there')
    await client.call('move', { from: 'a.txt', to: 'b.txt', overwrite: true })
    await client.call('move', { from: 'd', to: 'e' })
    expect(readdirSync(folder).sort()).toEqual(['b.txt', 'e'])
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('a')
  })

  test('the person is asked before a removal, and the file is removed once', async () => {
    const folder = folderWith({ 'd/a.txt': '', 'd/b.txt': '', 'c.txt': '' })
    const asked: string[] = []
    let sure = false
    const { client, server } = await started(
      { folders: [folder] },
      {
        answer: {
          elicit: ({ message }) => {
            asked.push(message)
            return { action: 'accept', content: { sure } }
          },
        },
      },
    )
    expect(await refusal(client, 'remove', { path: 'd' })).toContain('set recursive')
    expect(await refusal(client, 'remove', { path: 'd', recursive: true })).toContain('did not confirm')
    sure = true
    await client.call('remove', { path: 'd', recursive: true })
    expect(asked.at(-1)).toBe('Remove d and the 2 entries in it? This cannot be undone.')
    expect(existsSync(join(folder, 'd'))).toBe(false)
    const roots = { roots: [{ uri: pathToFileURL(folder).href }] }
    const rehearsal = await rehearse(
      server,
      'remove',
      { path: 'c.txt' },
      { roots, confirm: { sure: true } },
      { effects: { removed: () => Number(!existsSync(join(folder, 'c.txt'))) } },
    )
    expect(rehearsal.rounds).toEqual([['roots'], ['confirm']])
    expect(rehearsal.result.isError).toBeUndefined()
  })

  test('a read-only server has no tools that change files', async () => {
    const { client } = await started({ folders: [folderWith({})], isReadOnly: true })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['read', 'list', 'stat', 'search'])
  })

  test('a file with a second hard link is opened only when the operator allows it', async () => {
    const folder = folderWith({ 'a.txt': 'a' })
    linkSync(join(folder, 'a.txt'), join(folder, 'b.txt'))
    const { client } = await started({ folders: [folder] })
    expect(await refusal(client, 'read', { path: 'a.txt' })).toContain('hard link')
    const { client: trusting } = await started({ folders: [folder], allowHardLinks: true })
    expect(await done(trusting, 'read', { path: 'a.txt' })).toMatchObject({ text: 'a' })
  })
})

describe('roots', () => {
  const uriOf = (...parts: string[]): string => pathToFileURL(join(...parts)).href

  test.each(versions)('only the intersection of client roots and operator folders is allowed (%s)', async (revision) => {
    proves('T-ROOT-021', 'T-ARCH-012')
    const base = folderWith({ 'op/in/a.txt': 'a', 'op/b.txt': 'b', 'else/c.txt': 'c' })
    const { client } = await started(
      { folders: [join(base, 'op')] },
      { revision, answer: { roots: [uriOf(base, 'op', 'in'), uriOf(base, 'else')] } },
    )
    expect((await client.call('read', { path: 'a.txt' })).content).toEqual([{ type: 'text', text: 'a' }])
    expect(await refusal(client, 'read', { path: join(base, 'op', 'b.txt') })).toContain('outside')
    expect(await refusal(client, 'read', { path: join(base, 'else', 'c.txt') })).toContain('outside')
    await expect(client.read(uriOf(base, 'op', 'b.txt'))).rejects.toThrow('not found')
    expect((await client.read(uriOf(base, 'op', 'in', 'a.txt'))).contents).toMatchObject([{ text: 'a' }])
    expect(await client.resources().all()).toEqual([])
  })

  test('without operator folders the roots of the client are allowed, also after they change', async () => {
    proves('T-ROOT-021')
    const base = folderWith({ 'one/a.txt': 'a', 'two/b.txt': 'b', 'three/c.txt': 'c' })
    const { client } = await started({ rootsAlone: true }, { answer: { roots: [uriOf(base, 'one'), uriOf(base, 'two')] } })
    expect(await done(client, 'list', {})).toMatchObject({ entries: [{ path: 'one' }, { path: 'two' }] })
    expect(await done(client, 'read', { path: 'two/b.txt' })).toMatchObject({ path: 'two/b.txt', text: 'b' })
    expect(await refusal(client, 'read', { path: 'three/c.txt' })).toContain('must begin with one of the folders one, two')
    client.setRoots([uriOf(base, 'three')])
    expect(await done(client, 'read', { path: 'c.txt' })).toMatchObject({ text: 'c' })
    expect(await refusal(client, 'read', { path: join(base, 'one', 'a.txt') })).toContain('outside')
  })

  test('a missing root is skipped, and without any root nothing is allowed', async () => {
    proves('T-ROOT-020')
    const base = folderWith({ 'one/a.txt': 'a', 'two/b.txt': 'b' })
    const { client } = await started(
      { rootsAlone: true },
      { answer: { roots: [uriOf(base, 'one'), uriOf(base, 'two'), uriOf(base, 'one', 'a.txt')] } },
    )
    rmSync(join(base, 'two'), { recursive: true })
    expect(await done(client, 'read', { path: 'a.txt' })).toMatchObject({ text: 'a' })
    rmSync(join(base, 'one'), { recursive: true })
    expect(await refusal(client, 'read', { path: 'a.txt' })).toContain('none of the roots of the client exists')
    const { client: rootless } = await started({ rootsAlone: true })
    expect(await refusal(rootless, 'list', {})).toContain('the server was started without folders')
    const { client: outside } = await started({ folders: [temporary()] }, { answer: { roots: [uriOf(temporary())] } })
    expect(await refusal(outside, 'list', {})).toContain('outside the allowed folders')
  })

  test('a missing folder, a file, or no folder at all is a configuration error', async () => {
    const folder = folderWith({ 'a.txt': '' })
    await expect(filesServer({ folders: [join(folder, 'none')] })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(filesServer({})).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(filesServer({ folders: [join(folder, 'a.txt')] })).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  })
})

describe('watching', () => {
  test.each(versions)('subscribers are notified of a changed file and of a new file in the list (%s)', async (revision) => {
    const folder = folderWith({ 'a.txt': 'a', 'b.txt': 'b' })
    const { client } = await started({ folders: [folder] }, { revision })
    expect((await client.resources().all()).map(({ name }) => name)).toEqual(['a.txt', 'b.txt'])
    const uri = pathToFileURL(join(folder, 'a.txt')).href
    const changes = client.watch(uri)
    const first = changes.next()
    const listChanged = new Promise<void>((resolve) => void client.onChange('resources', resolve))
    // Repeated: changes before the subscription starts are not reported.
    const writing = setInterval(() => writeFileSync(join(folder, 'a.txt'), `${Math.random()}`), 50)
    expect((await first).value).toEqual({ uri })
    clearInterval(writing)
    const growing = setInterval(() => writeFileSync(join(folder, `new${Math.random()}.txt`), ''), 200)
    await listChanged
    clearInterval(growing)
    await expect.poll(async () => (await client.resources().all()).length).toBeGreaterThan(2)
    await changes.return(undefined)
  })

  test('the number of watched folders is limited, and the oldest one is dropped', async () => {
    const folder = folderWith({ 'one/a.txt': '', 'two/b.txt': '' })
    const { client } = await started({ folders: [folder], limits: { maxWatched: 2 } })
    const heard = new Set<string>()
    const watch = async (path: string): Promise<void> => {
      for await (const { uri } of client.watch(pathToFileURL(join(folder, path)).href)) heard.add(uri.slice(-5))
    }
    // The folder itself is always watched for the list of resources, so one more folder fits.
    void watch('one/a.txt')
    const writing = setInterval(() => {
      for (const path of ['one/a.txt', 'two/b.txt']) writeFileSync(join(folder, path), `${Math.random()}`)
    }, 20)
    await expect.poll(() => heard.has('a.txt')).toBe(true)
    void watch('two/b.txt')
    await expect.poll(() => heard.has('b.txt')).toBe(true)
    // Waits for late notifications of the first watch.
    await new Promise((resolve) => setTimeout(resolve, 100))
    heard.clear()
    await expect.poll(() => heard.has('b.txt')).toBe(true)
    clearInterval(writing)
    expect([...heard]).toEqual(['b.txt'])
    const grown = new Promise<void>((resolve) => void client.onChange('resources', resolve))
    const growing = setInterval(() => writeFileSync(join(folder, `${Math.random()}.txt`), ''), 100)
    await grown
    clearInterval(growing)
  })

  test('paths outside are not watched, and subscribing does not reveal whether they exist', async () => {
    const base = folderWith({ 'work/a.txt': 'a', 'outside/b.txt': 'b' })
    symlinkSync(join(base, 'outside'), join(base, 'work', 'linked'))
    const { client } = await started({ folders: [join(base, 'work')] })
    const heard: string[] = []
    const listen = async (path: string): Promise<void> => {
      for await (const { uri } of client.watch(pathToFileURL(join(base, path)).href)) heard.push(uri)
    }
    void listen('outside/b.txt').catch(() => {})
    void listen('work/linked/b.txt').catch(() => {})
    const inside = client.watch(pathToFileURL(join(base, 'work/a.txt')).href)
    const first = inside.next()
    const writing = setInterval(() => {
      writeFileSync(join(base, 'outside/b.txt'), `${Math.random()}`)
      writeFileSync(join(base, 'work/a.txt'), `${Math.random()}`)
    }, 30)
    await first
    await new Promise((resolve) => setTimeout(resolve, 200))
    clearInterval(writing)
    expect(heard).toEqual([])
  })
})
