/** What was approved stays in use as it was approved, and in no other way. */

import { execFile } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Primitive, primitivesOf } from '../../../src/host/approval/pin.ts'
import { openPins, type PinStore } from '../../../src/host/approval/pin-store.ts'
import type { Offering } from '../../../src/host/model/offering.ts'
import type { ServerTransport } from '../../../src/host/model/server-spec.ts'
import { fingerprintChanges, fingerprintOf } from '../../../src/host/server-command/fingerprint.ts'
import type { Tool } from '../../../src/protocol/model/tools.ts'
import { bundled } from '../../support/bundled.ts'
import { temporaryFolders } from '../../support/folders.ts'

const newFolder = temporaryFolders()
const newFile = (): string => join(newFolder(), 'state', 'pins.json')

const READ: Tool = {
  name: 'read_note',
  title: 'Read a note',
  description: 'Reads one note of the notebook and returns its text, unchanged, with the date of its last edit.',
  inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'Which note.' } }, required: ['id'] },
  annotations: { readOnlyHint: true },
}
const SEARCH: Tool = {
  name: 'search',
  description: 'Finds notes by their words.',
  inputSchema: { type: 'object', properties: { words: { type: 'string' } } },
}

const surface = (changes: Partial<Offering> = {}): Offering => ({
  info: { name: 'notes', version: '1' },
  instructions: 'Ask before you delete.',
  capabilities: { tools: {}, prompts: {}, resources: {} },
  tools: [READ, SEARCH],
  prompts: [{ name: 'summary', description: 'Sums up.', arguments: [{ name: 'topic' }] }],
  resources: [{ uri: 'note://1', name: 'one' }],
  templates: [{ uriTemplate: 'note://{id}', name: 'note' }],
  ...changes,
})

const secret = (name: string): string => `\${secret:${name}}`

const SERVER = { id: 'notes', fingerprint: 'f' }

async function approved(of = surface(), file?: string): Promise<PinStore> {
  const pins = await openPins(file === undefined ? {} : { file })
  await pins.approve(SERVER, primitivesOf(of), 1)
  return pins
}

const stateOfTool = (pins: PinStore, tool: Tool, server = SERVER) => pins.stateOf(server, 'tool', tool.name, tool)

describe('a server', () => {
  test('a server without an approval is unseen as a whole', async () => {
    const pins = await openPins()
    for (const { kind, name, definition } of primitivesOf(surface())) expect(pins.stateOf(SERVER, kind, name, definition)).toBe('unseen')
    expect(() => pins.check(SERVER, 'tool', READ.name, READ)).toThrow(expect.objectContaining({ code: 'ERR_QUARANTINED' }))
    expect(pins.compare('notes', surface())).toMatchObject({ isFirst: true, differences: [] })
    expect(pins.compare('notes', surface()).added).toHaveLength(6)
  })

  test('a server that was approved is pinned: tools, prompts, templates, instructions and capabilities', async () => {
    const pins = await approved()
    for (const { kind, name, definition } of primitivesOf(surface())) {
      expect(pins.stateOf(SERVER, kind, name, structuredClone(definition))).toBe('pinned')
      pins.check(SERVER, kind, name, definition)
    }
    expect(pins.compare('notes', surface())).toMatchObject({ isFirst: false, differences: [], added: [], removed: [] })
    expect(pins.compare('notes', surface()).unchanged).toHaveLength(6)
  })

  test('a server whose members come in another order is the same', async () => {
    const pins = await approved()
    const { name, ...rest } = READ
    expect(stateOfTool(pins, { ...rest, name })).toBe('pinned')
  })

  test('a definition that a server adds later is quarantined', async () => {
    const pins = await approved()
    const added: Tool = { name: 'wipe', inputSchema: { type: 'object' } }
    expect(stateOfTool(pins, added)).toBe('new')
    expect(pins.compare('notes', surface({ tools: [READ, SEARCH, added] })).added).toEqual([
      { kind: 'tool', name: 'wipe', definition: added },
    ])
    await pins.approve(SERVER, [{ kind: 'tool', name: 'wipe', definition: added }], 2)
    expect(stateOfTool(pins, added)).toBe('pinned')
    expect(stateOfTool(pins, READ)).toBe('pinned')
  })

  test('more resources of a server are data, and need no approval', async () => {
    const pins = await approved()
    expect(pins.stateOf(SERVER, 'resource', 'note://2', { uri: 'note://2', name: 'two' })).toBe('pinned')
    expect(pins.stateOf({ id: 'mail', fingerprint: 'f' }, 'resource', 'note://2', { uri: 'note://2', name: 'two' })).toBe('unseen')
  })

  test('removed definitions of a server are in the difference', async () => {
    const pins = await approved()
    const { differences, removed } = pins.compare('notes', surface({ tools: [READ] }))
    expect(removed).toEqual([{ kind: 'tool', name: 'search', definition: SEARCH }])
    expect(differences).toMatchObject([{ kind: 'tool', name: 'search', class: 'removed' }])
    await pins.withdraw('notes', removed)
    expect(stateOfTool(pins, SEARCH)).toBe('new')
  })

  test('a server that is forgotten is unseen again', async () => {
    const pins = await approved()
    expect(await pins.forget('notes')).toBe(true)
    expect(await pins.forget('notes')).toBe(false)
    expect(stateOfTool(pins, READ)).toBe('unseen')
  })

  test('an approval of one server does not apply to another with the same definitions', async () => {
    const pins = await approved()
    expect(stateOfTool(pins, READ, { id: 'toString', fingerprint: 'f' })).toBe('unseen')
    expect(stateOfTool(pins, READ, { id: '__proto__', fingerprint: 'f' })).toBe('unseen')
  })
})

describe('one byte', () => {
  test.each<[string, Tool]>([
    ['the title', { ...READ, title: 'Read a notf' }],
    ['the description', { ...READ, description: `${READ.description} ` }],
    ['the schema', { ...READ, inputSchema: { ...READ.inputSchema, required: [] } }],
    [
      'the description of a parameter',
      { ...READ, inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'Which note!' } }, required: ['id'] } },
    ],
    ['the annotations', { ...READ, annotations: { readOnlyHint: false } }],
    ['the page it opens', { ...READ, _meta: { ui: { resourceUri: 'ui://a' } } }],
    ['the icons', { ...READ, icons: [{ src: 'https://example.com/a.png' }] }],
  ])('one changed byte in %s of a tool is a change, refused and shown', async (_name, tool) => {
    const pins = await approved()
    expect(stateOfTool(pins, tool)).toBe('changed')
    expect(() => pins.check(SERVER, 'tool', tool.name, tool)).toThrow(
      expect.objectContaining({ code: 'ERR_QUARANTINED', data: { server: 'notes', kind: 'tool', name: 'read_note', state: 'changed' } }),
    )
    expect(pins.compare('notes', surface({ tools: [tool, SEARCH] })).differences).toMatchObject([{ kind: 'tool', name: 'read_note' }])
    await pins.approve(SERVER, [{ kind: 'tool', name: tool.name, definition: tool }], 2)
    expect(stateOfTool(pins, tool)).toBe('pinned')
    expect(stateOfTool(pins, READ)).toBe('changed')
  })

  test('one changed byte in the name of a tool makes it a new tool, and the old one is removed', async () => {
    const pins = await approved()
    const renamed = { ...READ, name: 'read_notf' }
    expect(stateOfTool(pins, renamed)).toBe('new')
    expect(() => pins.check(SERVER, 'tool', 'read_notf', renamed)).toThrow(expect.objectContaining({ code: 'ERR_QUARANTINED' }))
  })

  test.each<[string, Partial<Offering>, Primitive['kind']]>([
    ['the instructions', { instructions: 'Ask before you delete!' }, 'instructions'],
    ['the capabilities', { capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} } }, 'capabilities'],
    ['a prompt', { prompts: [{ name: 'summary', description: 'Sums up!', arguments: [{ name: 'topic' }] }] }, 'prompt'],
    ['a template', { templates: [{ uriTemplate: 'note://{id}', name: 'notf' }] }, 'template'],
  ])('one changed byte in %s is a change', async (_name, changes, kind) => {
    const pins = await approved()
    const now = primitivesOf(surface(changes)).find((each) => each.kind === kind) as Primitive
    expect(pins.stateOf(SERVER, kind, now.name, now.definition)).toBe('changed')
    expect(pins.compare('notes', surface(changes)).differences).toMatchObject([{ kind, name: now.name }])
  })

  const PROCESS: ServerTransport = {
    type: 'stdio',
    command: 'no-such-program',
    args: ['--root', '/a'],
    env: { TOKEN: secret('token'), MODE: 'x' },
    cwd: '/tmp',
  }
  const HTTP: ServerTransport = {
    type: 'http',
    url: 'https://mcp.example.com/v1?team=a',
    headers: { Authorization: `Bearer ${secret('token')}` },
  }

  test.each<[string, ServerTransport, ServerTransport, string]>([
    ['the command', PROCESS, { ...PROCESS, command: 'no-such-prograM' }, 'command: no-such-program → no-such-prograM'],
    ['an argument', PROCESS, { ...PROCESS, args: ['--root', '/b'] }, 'argument 2: /a → /b'],
    ['one argument more', PROCESS, { ...PROCESS, args: ['--root', '/a', '-f'] }, 'argument 3 is new: -f'],
    ['one argument less', PROCESS, { ...PROCESS, args: ['--root'] }, 'argument 2 is gone: /a'],
    ['the working folder', PROCESS, { ...PROCESS, cwd: '/tmq' }, 'the folder was /tmp and is /tmq now'],
    ['the environment', PROCESS, { ...PROCESS, env: { ...PROCESS.env, MODE: 'y' } }, 'the variable MODE has changed'],
    [
      'the name of a variable',
      PROCESS,
      { ...PROCESS, env: { MODE: 'x', TOKEM: secret('token') } },
      `the variable TOKEN is gone: ${secret('token')}`,
    ],
    [
      'the secret that is meant',
      PROCESS,
      { ...PROCESS, env: { ...PROCESS.env, TOKEN: secret('other') } },
      `the variable TOKEN: ${secret('token')} → ${secret('other')}`,
    ],
    ['the host', HTTP, { ...HTTP, url: 'https://mcp.example.org/v1?team=a' }, 'host: https://mcp.example.com → https://mcp.example.org'],
    ['the scheme', HTTP, { ...HTTP, url: 'http://mcp.example.com/v1?team=a' }, 'host: https://mcp.example.com → http://mcp.example.com'],
    ['the path', HTTP, { ...HTTP, url: 'https://mcp.example.com/v2?team=a' }, 'path: /v1 → /v2'],
    ['the query', HTTP, { ...HTTP, url: 'https://mcp.example.com/v1?team=b' }, 'query has changed'],
    ['a header', HTTP, { ...HTTP, headers: { Authorization: `Bearer ${secret('toke')}` } }, 'the header Authorization has changed'],
  ])('after a change of %s, everything counts as changed until a person approves the server again', async (_name, before, after, words) => {
    const [was, is] = [await fingerprintOf(before), await fingerprintOf(after)]
    const pins = await openPins()
    await pins.adopt('notes', was)
    expect(stateOfTool(pins, READ, { id: 'notes', fingerprint: was.fingerprint })).toBe('unseen')
    await pins.approve({ id: 'notes', fingerprint: was.fingerprint }, primitivesOf(surface()), 1)

    const now = { id: 'notes', fingerprint: is.fingerprint }
    for (const { kind, name, definition } of primitivesOf(surface())) expect(pins.stateOf(now, kind, name, definition)).toBe('changed')
    expect(() => pins.check(now, 'tool', READ.name, READ)).toThrow(expect.objectContaining({ code: 'ERR_QUARANTINED' }))
    await expect(pins.approve(now, primitivesOf(surface()), 2)).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    expect(fingerprintChanges(pins.adopted('notes')?.parts ?? [], is.parts)).toContain(words)

    await pins.adopt('notes', is)
    expect(stateOfTool(pins, READ, now)).toBe('pinned')
    expect(stateOfTool(pins, { ...READ, title: 'x' }, now)).toBe('changed')
  })
})

describe('a new name', () => {
  test('an approved tool under a new name is not new: its changes are shown', async () => {
    const pins = await approved()
    const laundered: Tool = { ...READ, name: 'fetch_note', annotations: { readOnlyHint: false } }
    const { differences, added } = pins.compare('notes', surface({ tools: [laundered, SEARCH] }))
    expect(added).toHaveLength(1)
    expect(differences).toMatchObject([{ name: 'fetch_note', formerly: 'read_note', class: 'renamed' }])
    expect(differences[0]?.changes).toContainEqual({
      pointer: 'name',
      class: 'renamed',
      text: 'renamed from read_note',
      before: 'read_note',
      after: 'fetch_note',
    })
    expect(differences[0]?.changes).toContainEqual(expect.objectContaining({ pointer: 'annotations.readOnlyHint', class: 'downgraded' }))
    expect(stateOfTool(pins, laundered)).toBe('new')
  })

  test('a name that looks like the old one is a rename, whether or not anything else changed', async () => {
    const pins = await approved()
    const { differences } = pins.compare(
      'notes',
      surface({ tools: [{ name: 'read-note', description: 'Sends it all.', inputSchema: { type: 'object' } }, SEARCH] }),
    )
    expect(differences).toMatchObject([{ name: 'read-note', formerly: 'read_note', class: 'renamed' }])
  })

  test('a new name for another tool is a new tool', async () => {
    const pins = await approved()
    const other: Tool = {
      name: 'weather',
      description: 'Says how warm it is.',
      inputSchema: { type: 'object', properties: { city: { type: 'number' } } },
    }
    const { differences } = pins.compare('notes', surface({ tools: [other, SEARCH] }))
    expect(differences).toMatchObject([{ name: 'read_note', class: 'removed' }])
  })
})

describe('limits', () => {
  const item = (name: string): Primitive => ({ kind: 'tool', name, definition: { name } })

  test('the number of servers is limited', async () => {
    const pins = await openPins({ limits: { maxServers: 1 } })
    await pins.approve(SERVER, [item('a')], 1)
    await pins.approve(SERVER, [item('b')], 1)
    await expect(pins.approve({ id: 'mail', fingerprint: 'f' }, [item('a')], 1)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxServers'),
    })
  })

  test('the number of definitions of one server is limited', async () => {
    const pins = await openPins({ limits: { maxItems: 2 } })
    await pins.approve(SERVER, [item('a'), item('b')], 1)
    await expect(pins.approve(SERVER, [item('c')], 1)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxItems'),
    })
    expect(pins.list()[0]?.items).toHaveLength(2)
  })

  test('the size of one definition is limited', async () => {
    const pins = await openPins({ limits: { maxDefinitionBytes: 12 } })
    await pins.approve(SERVER, [item('a')], 1)
    await expect(pins.approve(SERVER, [item('bb')], 1)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxDefinitionBytes'),
    })
  })

  test('the size of the file is limited', async () => {
    const pins = await openPins({ file: newFile(), limits: { maxBytes: 400 } })
    await pins.approve(SERVER, [item('a')], 1)
    await expect(pins.approve(SERVER, [item('b'.repeat(300))], 1)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('maxBytes'),
    })
    await pins.refresh()
    expect(pins.stateOf(SERVER, 'tool', 'a', { name: 'a' })).toBe('pinned')
  })
})

describe('a file of pins', () => {
  test('a file of pins is read by later processes, with new digests', async () => {
    const file = newFile()
    await approved(surface(), file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const later = await openPins({ file })
    expect(stateOfTool(later, READ)).toBe('pinned')
    expect(stateOfTool(later, { ...READ, title: 'x' })).toBe('changed')
  })

  test('a file of pins that another process changes is seen after the next refresh', async () => {
    const file = newFile()
    const pins = await openPins({ file })
    const other = await approved(surface(), file)
    expect(stateOfTool(pins, READ)).toBe('unseen')
    await pins.refresh()
    expect(stateOfTool(pins, READ)).toBe('pinned')
    await other.forget('notes')
    await pins.refresh()
    expect(stateOfTool(pins, READ)).toBe('unseen')
  })

  test.each([
    ['no JSON', '['],
    ['no list', '{}'],
    ['a server without a name', '[{"fingerprint":"f","parts":[],"items":[]}]'],
    ['a thing without a definition', '[{"server":"a","fingerprint":"f","parts":[],"items":[{"kind":"tool","name":"a"}]}]'],
    ['a thing of no kind', '[{"server":"a","fingerprint":"f","parts":[],"items":[{"kind":"tol","name":"a","definition":1}]}]'],
    ['a part without a digest', '[{"server":"a","fingerprint":"f","parts":[{"name":"x"}],"items":[]}]'],
  ])('a file of pins with %s in it is refused and approves nothing', async (_name, text) => {
    const file = join(newFolder(), 'pins.json')
    writeFileSync(file, text, { mode: 0o600 })
    await expect(openPins({ file })).rejects.toMatchObject({ code: 'ERR_STORE', message: expect.stringContaining(file) })
  })

  test('a file of pins that processes change at the same time loses no change', async () => {
    const file = newFile()
    const program = await bundled(new URL('fixtures/pin-user.ts', import.meta.url), newFolder())
    const run = promisify(execFile)
    await Promise.all(['x', 'y'].map((name) => run(process.execPath, [program, file, name, '6'])))
    const pins = await openPins({ file })
    expect(pins.list().map(({ server }) => server)).toEqual(['shared'])
    expect(
      pins
        .list()[0]
        ?.items.map(({ name }) => name)
        .sort(),
    ).toEqual(['x', 'y'].flatMap((name) => [0, 1, 2, 3, 4, 5].map((turn) => `${name}-${turn}`)))
  })
})
