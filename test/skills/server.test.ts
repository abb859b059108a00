/** A folder of skills as clients see it, in raw messages. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { httpHandler } from '../../src/http/index.ts'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { createServer, type ServerOptions, type SkillsOptions } from '../../src/server/index.ts'
import type { Skill } from '../../src/skills/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { envelope, type Message, rawChannel } from '../support/raw-channel.ts'
import { until } from '../support/until.ts'
import { clientOf, digestOf, skillText, writeFiles } from './skill-files.ts'

const newFolder = temporaryFolders()

const SKILL = 'skill://pdf-processing/SKILL.md'
const FILES = {
  'pdf-processing/SKILL.md': skillText(
    'pdf-processing',
    'license: MIT\nmetadata:\n  version: "2.1"\n  io.modelcontextprotocol/unknown: x\n',
  ),
  'pdf-processing/references/FORMS.md': '# Forms\n',
  'pdf-processing/scripts/extract.py': 'print(1)\n',
  'pdf-processing/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]),
  'acme/billing/refunds/SKILL.md': skillText('refunds'),
  'README.md': 'Not part of a skill',
}

async function served(
  files: Readonly<Record<string, string | Uint8Array>> = FILES,
  options: SkillsOptions = {},
  more: Partial<ServerOptions> = {},
) {
  const folder = writeFiles(newFolder(), files)
  const server = createServer({ name: 'docs', version: '1', ...more })
  await server.skills(folder, { onWarning: () => {}, ...options })
  onTestFinished(() => server.close())
  const raw = rawChannel(server)
  const ask = (method: string, params: object = {}) => raw.ask(method, { ...params, _meta: envelope() })
  return { folder, server, raw, ask }
}

describe('a folder of skills', () => {
  test('is declared with its setting, and with resources', async () => {
    proves('R-SKILL-001', 'R-SKILL-002')
    const { ask } = await served()
    const { result } = await ask('server/discover')
    expect(result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/skills': { directoryRead: true } })
    expect(result.capabilities.resources).toBeDefined()
    for (const method of ['skills/list', 'skills/get', 'resources/directory/read'])
      expect((await ask(method, { uri: method === 'skills/get' ? SKILL : 'skill://pdf-processing' })).error, method).toBeUndefined()
  })

  test('has an entry for each skill, with its frontmatter and every file of it', async () => {
    proves(
      'R-SKILL-004',
      'R-SKILL-005',
      'R-SKILL-006',
      'R-SKILL-007',
      'R-SKILL-009',
      'R-SKILL-014',
      'R-SKILL-015',
      'R-SKILL-018',
      'R-SKILL-023',
    )
    const { ask } = await served()
    const { result } = await ask('skills/list')
    expect(result.skills).toEqual([
      {
        uri: 'skill://acme/billing/refunds/SKILL.md',
        frontmatter: { name: 'refunds', description: 'Does refunds well' },
        resources: [
          {
            uri: 'skill://acme/billing/refunds/SKILL.md',
            digest: digestOf(FILES['acme/billing/refunds/SKILL.md']),
            size: expect.any(Number),
          },
        ],
      },
      {
        uri: SKILL,
        frontmatter: {
          name: 'pdf-processing',
          description: 'Does pdf-processing well',
          license: 'MIT',
          metadata: { version: '2.1', 'io.modelcontextprotocol/unknown': 'x' },
        },
        resources: ['SKILL.md', 'logo.png', 'references/FORMS.md', 'scripts/extract.py'].map((path) => {
          const content = FILES[`pdf-processing/${path}` as keyof typeof FILES]
          return { uri: `skill://pdf-processing/${path}`, digest: digestOf(content), size: Buffer.byteLength(content) }
        }),
      },
    ])
  })

  test('answers lists and single skills with the members that results have', async () => {
    proves('R-SKILL-030', 'R-SKILL-033')
    const { ask } = await served()
    const list = (await ask('skills/list')).result
    expect(list).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' })
    const { skill, ...rest } = (await ask('skills/get', { uri: SKILL })).result
    expect(skill).toEqual(list.skills[1])
    expect(rest).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' })
    expect(rest.nextCursor).toBeUndefined()
  })

  test('is listed in pages of whole entries', async () => {
    proves('R-SKILL-030')
    const files = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`skill-${at}/SKILL.md`, skillText(`skill-${at}`)]))
    const { ask } = await served(files, {}, { pageSize: 3 })
    const pages: string[][] = []
    let cursor: string | undefined
    do {
      const { result } = await ask('skills/list', cursor === undefined ? {} : { cursor })
      pages.push(result.skills.map(({ uri }: { uri: string }) => uri))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1])
    expect(new Set(pages.flat()).size).toBe(7)
    expect((await ask('skills/list', { cursor: 'made up' })).error.code).toBe(-32602)
  })

  test('refuses URIs that are no skill with invalid params', async () => {
    proves('R-SKILL-034')
    const { ask } = await served()
    for (const uri of [
      'skill://no-such/SKILL.md',
      'skill://pdf-processing',
      'skill://pdf-processing/references/FORMS.md',
      'skill://pdf-processing/../refunds/SKILL.md',
      5,
    ])
      expect((await ask('skills/get', { uri })).error, String(uri)).toMatchObject({ code: -32602 })
    expect((await ask('skills/get')).error.code).toBe(-32602)
  })

  test('lists SKILL.md as a resource with the words of its frontmatter', async () => {
    proves('R-SKILL-011')
    const { ask } = await served()
    const { result } = await ask('resources/list')
    expect(result.resources).toContainEqual({
      uri: SKILL,
      name: 'pdf-processing',
      description: 'Does pdf-processing well',
      mimeType: 'text/markdown',
      size: Buffer.byteLength(FILES['pdf-processing/SKILL.md']),
    })
    expect(result.resources.some(({ uri }: { uri: string }) => uri.includes('README'))).toBe(false)
  })

  test('gives the exact bytes of each file, as text or base64', async () => {
    const text = '\u{feff}Line\r\nÄ 漢\n'
    const { ask } = await served({ ...FILES, 'pdf-processing/odd.txt': text })
    const read = async (path: string) => (await ask('resources/read', { uri: `skill://pdf-processing/${path}` })).result.contents[0]
    expect(await read('odd.txt')).toEqual({ uri: 'skill://pdf-processing/odd.txt', mimeType: 'text/plain', text })
    expect(Buffer.from((await read('logo.png')).blob, 'base64')).toEqual(Buffer.from(FILES['pdf-processing/logo.png']))
    expect((await ask('resources/read', { uri: 'skill://pdf-processing/none.md' })).error.code).toBe(-32602)
  })

  test('lists the direct children of its folders', async () => {
    proves('R-SKILL-042', 'R-SKILL-043')
    const { ask } = await served()
    const { result } = await ask('resources/directory/read', { uri: 'skill://pdf-processing' })
    expect(result.resources.map(({ uri, mimeType }: { uri: string; mimeType: string }) => [uri, mimeType])).toEqual([
      [SKILL, 'text/markdown'],
      ['skill://pdf-processing/logo.png', 'image/png'],
      ['skill://pdf-processing/references', 'inode/directory'],
      ['skill://pdf-processing/scripts', 'inode/directory'],
    ])
    expect(result.resultType).toBe('complete')
    expect(result).not.toHaveProperty('ttlMs')
    const inside = (await ask('resources/directory/read', { uri: 'skill://pdf-processing/scripts' })).result
    expect(inside.resources.map(({ uri }: { uri: string }) => uri)).toEqual(['skill://pdf-processing/scripts/extract.py'])
    expect((await ask('resources/directory/read', { uri: 'skill://acme' })).result.resources).toEqual([
      { uri: 'skill://acme/billing', name: 'billing', mimeType: 'inode/directory' },
    ])
    for (const uri of [SKILL, 'skill://none', 'skill://pdf-processing/', 'skill://pdf-processing/..', 'skill://acme/../acme'])
      expect((await ask('resources/directory/read', { uri })).error, uri).toMatchObject({ code: -32602 })
  })

  test('without directoryRead does not know the method', async () => {
    proves('R-SKILL-001')
    const { ask } = await served(FILES, { directoryRead: false })
    expect((await ask('server/discover')).result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/skills': {} })
    expect((await ask('resources/directory/read', { uri: 'skill://pdf-processing' })).error.code).toBe(-32601)
  })

  test('is not there for clients of older revisions, but its files are resources', async () => {
    proves('R-SKILL-001')
    const { server } = await served()
    const raw = rawChannel(server)
    const { result } = await raw.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old', version: '1' },
    })
    expect(result.capabilities).not.toHaveProperty('extensions')
    raw.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect((await raw.ask('skills/list', {})).error.code).toBe(-32601)
    expect((await raw.ask('resources/read', { uri: SKILL })).result.contents[0].text).toContain('pdf-processing')
  })

  test('lists a nested skill of its own, and its files with the skill around it', async () => {
    proves('R-SKILL-023')
    const { ask } = await served({ 'outer/SKILL.md': skillText('outer'), 'outer/inner/SKILL.md': skillText('inner') })
    const { result } = await ask('skills/list')
    const files = result.skills.map(({ uri, resources }: { uri: string; resources: { uri: string }[] }) => [
      uri,
      resources.map((each) => each.uri),
    ])
    expect(files).toEqual([
      ['skill://outer/SKILL.md', ['skill://outer/SKILL.md', 'skill://outer/inner/SKILL.md']],
      ['skill://outer/inner/SKILL.md', ['skill://outer/inner/SKILL.md']],
    ])
  })

  test('that is itself a skill is served under its own name', async () => {
    const folder = writeFiles(newFolder(), { 'refunds/SKILL.md': skillText('refunds'), 'refunds/a.md': 'a' })
    const server = createServer({ name: 'docs', version: '1' })
    await server.skills(join(folder, 'refunds'))
    const { skills: found, close } = await clientOf(server)
    expect((await found.list().all()).map(({ uri }) => uri)).toEqual(['skill://refunds/SKILL.md'])
    expect((await found.directory('skill://refunds').all()).map(({ uri }) => uri)).toEqual([
      'skill://refunds/SKILL.md',
      'skill://refunds/a.md',
    ])
    await close()
    await server.close()
  })

  test('is hidden from callers without its scopes', async () => {
    const { server } = await served(FILES, { scopes: ['skills:read'] })
    const ask = (scopes: string[], method: string, params: object = {}): Promise<Message> =>
      new Promise((resolve) => {
        const claims = { issuer: 'i', subject: 's', clientId: 'c', claims: {}, expiresAt: Date.now() + 60_000, scopes }
        const outlet = { push: () => undefined, answer: (json: string) => void resolve(JSON.parse(json)), drop: () => {}, sender: claims }
        const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope() } }
        server.open({ outlet }).receive(read(JSON.stringify(message), DEFAULT_READ_BOUNDS), outlet)
      })
    expect((await ask([], 'skills/list')).result.skills).toEqual([])
    expect((await ask([], 'skills/get', { uri: SKILL })).error.data.scopes).toEqual(['skills:read'])
    expect((await ask([], 'resources/directory/read', { uri: 'skill://acme' })).error.data.scopes).toEqual(['skills:read'])
    expect((await ask([], 'resources/read', { uri: SKILL })).error.data.scopes).toEqual(['skills:read'])
    expect((await ask(['skills:read'], 'skills/list')).result.skills).toHaveLength(2)
  })
})

describe('changes of the files', () => {
  test('are announced, and the next entry has the new digests', async () => {
    const { folder, server } = await served()
    const { client, skills: found, close } = await clientOf(server)
    let changes = 0
    await client.onChange('resources', () => changes++)
    const updated: string[] = []
    await client.onResourceChange(SKILL, (uri) => updated.push(uri))
    await found.list().all()
    writeFiles(folder, { 'pdf-processing/SKILL.md': skillText('pdf-processing', '', 'New text\n') })
    await until(() => updated.length > 0)
    expect(changes).toBeGreaterThan(0)
    expect((await found.load(SKILL)).text).toContain('New text')
    mkdirSync(join(folder, 'fresh'))
    writeFiles(folder, { 'fresh/SKILL.md': skillText('fresh') })
    await until(async () => (await found.list().all()).some(({ uri }) => uri === 'skill://fresh/SKILL.md'))
    rmSync(join(folder, 'fresh'), { recursive: true })
    await until(async () => !(await found.list().all()).some(({ uri }) => uri === 'skill://fresh/SKILL.md'))
    await close()
  })

  test('between list and read fail the verification, and a new entry helps', async () => {
    proves('R-SKILL-036')
    const { folder, server } = await served(FILES, { watch: false })
    const { skills: found, close } = await clientOf(server)
    const [, entry] = await found.list().all()
    // Another file of the same size takes the place of the listed one.
    writeFileSync(join(folder, 'new'), FILES['pdf-processing/SKILL.md'].replace('well', 'evil'))
    renameSync(join(folder, 'new'), join(folder, 'pdf-processing/SKILL.md'))
    await expect(found.load(entry!)).rejects.toMatchObject({ name: 'SkillError', fault: 'digest' })
    expect((await found.load(SKILL)).text).toContain('evil')
    await close()
  })

  test('that break a skill take it out, with a warning that names the file and the line', async () => {
    const warnings: string[] = []
    const { folder, server } = await served(FILES, { onWarning: (text) => warnings.push(text) })
    const { skills: found, close } = await clientOf(server)
    writeFiles(folder, { 'pdf-processing/SKILL.md': '---\nname: pdf-processing\ndescription: [\n---\n' })
    await until(async () => (await found.list().all()).length === 1)
    expect(warnings.join()).toMatch(/pdf-processing\/SKILL\.md, line \d: the frontmatter cannot be read as YAML/)
    expect((await found.list().all())[0]?.uri).toBe('skill://acme/billing/refunds/SKILL.md')
    await close()
  })
})

describe('server.skills', () => {
  const folderOf = (files: Readonly<Record<string, string | Uint8Array>> = FILES): string => writeFiles(newFolder(), files)
  const newServer = (options: Partial<ServerOptions> = {}) => {
    const server = createServer({ name: 'docs', version: '1', ...options })
    onTestFinished(() => server.close())
    return server
  }
  const OLD = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } }

  test('lets the first request wait, whether you await it or not', async () => {
    const server = newServer()
    const raw = rawChannel(server)
    const loaded = server.skills(folderOf())
    const [list, discovered] = await Promise.all([
      raw.ask('skills/list', { _meta: envelope() }),
      raw.ask('server/discover', { _meta: envelope() }),
    ])
    expect(list.result.skills).toHaveLength(2)
    expect(discovered.result.capabilities.extensions).toHaveProperty(['io.modelcontextprotocol/skills'])
    await loaded
  })

  test('lets a handshake wait, so that it declares the resources', async () => {
    const server = newServer()
    const raw = rawChannel(server)
    const loaded = server.skills(folderOf())
    expect((await raw.ask('initialize', OLD)).result.capabilities.resources).toBeDefined()
    await loaded
  })

  test('lets stateless requests over HTTP wait', async () => {
    const server = newServer()
    const { fetch } = httpHandler(server, { allowedHosts: ['localhost'] })
    const loaded = server.skills(folderOf())
    const body = { jsonrpc: '2.0', id: 1, method: 'skills/get', params: { uri: SKILL, _meta: envelope() } }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'skills/get',
    }
    const response = await fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) }))
    expect(await response.json()).toMatchObject({ result: { skill: { uri: SKILL } } })
    await loaded
  })

  test('does not run a call that was cancelled while it waited', async () => {
    const server = newServer()
    let runs = 0
    server.tool('count', () => String(++runs))
    const raw = rawChannel(server)
    const loaded = server.skills(folderOf())
    raw.send({ jsonrpc: '2.0', id: 'first', method: 'tools/call', params: { name: 'count', _meta: envelope() } })
    raw.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'first' } })
    await loaded
    expect((await raw.ask('tools/call', { name: 'count', _meta: envelope() })).result.content).toEqual([{ type: 'text', text: '1' }])
  })

  test('notices changes for a client that was there before the skills', async () => {
    const server = newServer()
    const raw = rawChannel(server)
    const names = async (): Promise<string[]> =>
      (await raw.ask('skills/list', { _meta: envelope() })).result.skills.map(({ frontmatter }: Skill) => frontmatter.name)
    const folder = folderOf()
    await server.skills(folder)
    expect(await names()).toEqual(['refunds', 'pdf-processing'])
    writeFiles(folder, { 'fresh/SKILL.md': skillText('fresh') })
    await until(async () => (await names()).includes('fresh'))
  })

  test('that fails adds nothing, and the server answers without skills', async () => {
    const server = newServer()
    server.tool('ping', () => 'pong')
    const raw = rawChannel(server)
    const failed = server.skills(folderOf({ ...FILES, 'bad/SKILL.md': 'no frontmatter' }))
    const [{ result }] = await Promise.all([
      raw.ask('server/discover', { _meta: envelope() }),
      expect(failed).rejects.toMatchObject({
        code: 'ERR_DEFINITION',
        message: expect.stringContaining('bad/SKILL.md, line 1: expected the file to begin with'),
      }),
    ])
    expect(Object.keys(result.capabilities)).toEqual(['logging', 'tools'])
    await server.skills(folderOf())
    expect((await raw.ask('skills/list', { _meta: envelope() })).result.skills).toHaveLength(2)
  })

  test('leaves no resource behind if the server has one with the URI of a file', async () => {
    const server = newServer()
    const uri = 'skill://pdf-processing/scripts/extract.py'
    server.resource(uri, { name: 'own' }, () => 'own')
    await expect(server.skills(folderOf())).rejects.toMatchObject({ code: 'ERR_DEFINITION', message: expect.stringContaining(uri) })
    const { result } = await rawChannel(server).ask('resources/list', { _meta: envelope() })
    expect(result.resources.map((each: { uri: string }) => each.uri)).toEqual([uri])
  })

  test('called twice keeps the first folder, and says what to do', async () => {
    const server = newServer()
    const [first, second] = await Promise.allSettled([
      server.skills(folderOf({ 'one/SKILL.md': skillText('one') })),
      server.skills(folderOf({ 'two/SKILL.md': skillText('two') })),
    ])
    const [kept, refused] = first.status === 'fulfilled' ? [first, second] : [second, first]
    expect(kept.status).toBe('fulfilled')
    expect(refused).toMatchObject({
      reason: { code: 'ERR_DEFINITION', message: expect.stringContaining('one folder that contains them all') },
    })
    const { client, skills: found, close } = await clientOf(server)
    expect(await found.list().all()).toHaveLength(1)
    expect(await client.resources().all()).toHaveLength(1)
    await close()
  })

  test('ends before the server is closed', async () => {
    const server = createServer({ name: 'docs', version: '1' })
    let isLoaded = false
    void server.skills(folderOf()).then(() => {
      isLoaded = true
    })
    await server.close()
    expect(isLoaded).toBe(true)
  })
})
