// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** Our own list of servers: what is added comes back, whoever else adds at the same time. */

import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { serverFile } from '../../../src/host/config/server-file.ts'
import type { ServerSpec } from '../../../src/host/model/server-spec.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const from = (client: string, file = `/${client}.json`): ServerSpec['provenance'][number] => ({ client, scope: 'user', file })

const spec = (id: string, over: Partial<ServerSpec> = {}): ServerSpec => ({
  id,
  transport: { type: 'stdio', command: id, args: ['a'], env: { KEY: '${secret:k}' } },
  tier: 'untrusted',
  provenance: [from('Cursor')],
  ...over,
})

const FULL = spec('full', {
  title: 'Full',
  transport: { type: 'stdio', command: 'x', args: ['${$}{env:A}', '${input:i}'], env: {}, cwd: '/srv' },
  tier: 'trusted',
  isDisabled: true,
  asserted: { '*': { readOnlyHint: true } },
  labels: ['private:mail'],
  roots: ['/home/ada'],
  timeoutMs: 100,
  revisions: ['2025-06-18', '2025-11-25'],
  inputs: [{ id: 'i', isSecret: false, description: 'd', default: 'e', options: ['e', 'f'] }],
})

const HTTP = spec('http', {
  transport: { type: 'http', url: 'https://x.example/mcp', headers: { A: '${secret:a}' } },
  httpTransport: 'sse',
})

describe('the file', () => {
  test('the file stores additions, changes and removals, and only its owner can read it', async () => {
    const file = serverFile(join(newFolder(), 'portico'))
    expect(await file.list()).toEqual({ servers: [], inputs: [], problems: [] })
    await file.add(FULL)
    await file.add(HTTP)
    await file.add(spec('gone'))
    expect(await file.remove('gone')).toBe(true)
    expect(await file.remove('gone')).toBe(false)
    await file.update('http', (before) => ({ ...before, tier: 'trusted' }))
    expect(await file.list()).toEqual({ servers: [FULL, { ...HTTP, tier: 'trusted' }], inputs: [], problems: [] })
    expect(statSync(file.file).mode & 0o777).toBe(0o600)
  })

  test('the file refuses a revision that does not exist, and names its transport as other clients do', async () => {
    const file = serverFile(newFolder())
    await expect(file.add(spec('a', { revisions: ['2020-01-01'] }))).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringMatching(/a.revisions: Unknown revision "2020-01-01"; supported: 2024-11-05, /),
    })
    await file.add(HTTP)
    expect(JSON.parse(readFileSync(file.file, 'utf8')).mcpServers.http).toMatchObject({ type: 'sse', url: 'https://x.example/mcp' })
  })

  test('the file refuses an existing name, a change of a missing server, and an invalid name', async () => {
    const file = serverFile(newFolder())
    await file.add(spec('a'))
    await expect(file.add(spec('a'))).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining('already has a server a'),
    })
    await expect(file.update('b', (before) => before)).rejects.toMatchObject({ code: 'ERR_SERVER_UNKNOWN' })
    for (const id of ['a/b', '', '__proto__', 'x'.repeat(65)])
      await expect(file.add(spec(id))).rejects.toMatchObject({ code: 'ERR_CONFIG' })
    await expect(file.add(spec('c', { timeoutMs: -1 }))).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining('timeoutMs'),
    })
    expect((await file.list()).servers.map(({ id }) => id)).toEqual(['a'])
  })

  test('the file keeps entries written by a person, even unreadable ones, and reports those', async () => {
    const folder = newFolder()
    const path = join(folder, 'servers.json')
    writeFileSync(path, JSON.stringify({ note: 'mine', mcpServers: { broken: { command: 5 }, 'my server': { command: 'x' } } }))
    chmodSync(path, 0o600)
    const file = serverFile(folder)
    await file.add(spec('a'))
    await file.update('my-server', (before) => ({ ...before, isDisabled: true }))
    expect(await file.adopt([spec('broken')])).toMatchObject({ added: [{ id: 'broken-cursor' }], updated: [] })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      note: 'mine',
      mcpServers: { broken: { command: 5 }, 'my server': { command: 'x', disabled: true }, a: { command: 'a' } },
    })
    expect((await file.list()).problems.map(({ where }) => where)).toEqual(['mcpServers.broken.command', 'note'])
  })

  test('a change applies to the right entry, even if another has a similar name', async () => {
    const folder = newFolder()
    const path = join(folder, 'servers.json')
    writeFileSync(path, JSON.stringify({ mcpServers: { 'my server': { command: 'a' }, 'my-server': { command: 'b' }, broken: 1 } }), {
      mode: 0o600,
    })
    const file = serverFile(folder)
    expect((await file.list()).servers.map(({ id, transport }) => [id, transport.type === 'stdio' && transport.command])).toEqual([
      ['my-server-2', 'a'],
      ['my-server', 'b'],
    ])
    await file.update('my-server-2', (before) => ({ ...before, tier: 'trusted' }))
    expect(await file.remove('my-server')).toBe(true)
    expect(await file.remove('broken')).toBe(true)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ mcpServers: { 'my server': { command: 'a', tier: 'trusted' } } })
    expect((await file.list()).servers).toHaveLength(1)
  })

  test('the file holds up to maxServers', async () => {
    const file = serverFile(newFolder(), { maxServers: 2 })
    await file.add(spec('a'))
    await file.add(spec('b'))
    await expect(file.add(spec('c'))).rejects.toMatchObject({ code: 'ERR_LIMIT', message: expect.stringContaining('maxServers') })
    expect((await file.list()).servers).toHaveLength(2)
  })
})

describe('adopting', () => {
  test('adopting adds new servers under a free name, and records another provenance for known ones', async () => {
    const file = serverFile(newFolder())
    await file.add(spec('a'))
    const other = spec('a', { transport: { type: 'stdio', command: 'other', args: [], env: {} }, provenance: [from('Kiro')] })
    const same = spec('renamed', { transport: spec('a').transport, provenance: [from('Windsurf')] })
    expect(await file.adopt([other, same, spec('b')])).toMatchObject({ added: [{ id: 'a-kiro', title: 'a' }, { id: 'b' }] })
    expect(await file.adopt([other, same, spec('b')])).toEqual({ added: [], updated: [] })
    const { servers } = await file.list()
    expect(servers.map(({ id, provenance }) => [id, provenance.map(({ client }) => client)])).toEqual([
      ['a', ['Cursor', 'Windsurf']],
      ['a-kiro', ['Kiro']],
      ['b', ['Cursor']],
    ])
  })

  test('adopting does not enable a server that is disabled here', async () => {
    const file = serverFile(newFolder())
    await file.add(spec('a', { isDisabled: true }))
    await file.adopt([spec('a', { provenance: [from('Kiro')] })])
    expect((await file.list()).servers).toMatchObject([{ isDisabled: true, provenance: [from('Cursor'), from('Kiro')] }])
  })

  test('adopting does not bring back a secret that was moved to the vault', async () => {
    const file = serverFile(newFolder())
    await file.adopt([spec('a')])
    const plain = spec('a', { transport: { type: 'stdio', command: 'a', args: ['a'], env: { KEY: 'hunter22' } } })
    expect(await file.adopt([plain])).toEqual({ added: [], updated: [] })
    expect(readFileSync(file.file, 'utf8')).not.toContain('hunter22')
    const other = { ...plain.transport, args: ['b'] } as ServerSpec['transport']
    expect(await file.adopt([spec('a', { transport: other, provenance: [from('Kiro')] })])).toMatchObject({ added: [{ id: 'a-kiro' }] })
  })

  const withKey = (KEY: string, args = ['a']): ServerSpec['transport'] => ({ type: 'stdio', command: 'a', args, env: { KEY } })

  test('adopting updates a server from the same file and name, and keeps its local settings', async () => {
    const file = serverFile(newFolder())
    await file.adopt([spec('a', { transport: withKey('hunter22') })])
    await file.update('a', (before) => ({ ...before, labels: ['private:mail'], isDisabled: true }))
    const moved = spec('a', { transport: withKey('${secret:a/KEY}') })
    expect(await file.adopt([moved])).toMatchObject({ added: [], updated: [{ id: 'a' }] })
    expect((await file.list()).servers).toEqual([{ ...moved, labels: ['private:mail'], isDisabled: true }])
    expect(readFileSync(file.file, 'utf8')).not.toContain('hunter22')
    // A new value that was moved as well has a name of its own.
    expect(await file.adopt([spec('a', { transport: withKey('${secret:a/KEY-2}') })])).toMatchObject({ updated: [{ id: 'a' }] })
    expect((await file.list()).servers).toMatchObject([{ transport: withKey('${secret:a/KEY-2}') }])
  })

  test('adopting updates a server that was added under another name', async () => {
    const file = serverFile(newFolder())
    await file.add(spec('a', { provenance: [{ client: 'portico', scope: 'ours', file: '/servers.json' }] }))
    const theirs = (args: string[]): ServerSpec => spec('a', { transport: withKey('x', args) })
    expect(await file.adopt([theirs(['b'])])).toMatchObject({ added: [{ id: 'a-cursor' }], updated: [] })
    expect(await file.adopt([theirs(['c'])])).toMatchObject({ added: [], updated: [{ id: 'a-cursor', transport: { args: ['c'] } }] })
    expect((await file.list()).servers).toHaveLength(2)
  })

  test('adopting does not give a vault secret to a new command from a changed foreign file', async () => {
    const file = serverFile(newFolder())
    await file.adopt([spec('a', { transport: withKey('${secret:a/KEY}') })])
    expect(await file.adopt([spec('a', { transport: withKey('anything', ['evil']) })])).toMatchObject({ updated: [{ id: 'a' }] })
    expect(readFileSync(file.file, 'utf8')).not.toContain('secret:')
  })
})

test('processes that add at the same time lose nothing', async () => {
  const folder = newFolder()
  const module = await bundled('src/host/config/server-file.ts', newFolder())
  const program = fileURLToPath(new URL('fixtures/server-adder.mjs', import.meta.url))
  const names = ['one', 'two', 'three']
  const run = promisify(execFile)
  await Promise.all(names.map((name) => run(process.execPath, [program, module, folder, name, '12'])))
  const { servers, problems } = await serverFile(folder).list()
  const expected = names.flatMap((name) => Array.from({ length: 12 }, (_, i) => `${name}-${i}`))
  expect(servers.map(({ id }) => id).sort()).toEqual(expected.sort())
  expect(problems).toEqual([])
  expect(existsSync(join(folder, 'servers.json.lock'))).toBe(false)
})
