/** What 2025-06-18 brought, as a peer of 2025-03-26 sees it. */

import { describe, expect, test } from 'vitest'
import { type Revision, revisionOf } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { AUDIO, EMBEDDED, IMAGE, IMPLEMENTATION, LINK, PARAMS, RESOURCE, RESULTS, TEXT } from './rich-messages.ts'

type Json = Record<string, unknown>

const before = revisionOf('2025-03-26') as Revision
const own = revisionOf('2025-06-18') as Revision
const UNDATED = { audience: ['user', 'assistant'], priority: 0.5 }
const PLAIN_BLOCKS = [
  { type: 'text', text: 'hi', annotations: UNDATED },
  { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: UNDATED },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: UNDATED },
  { type: 'text', text: 'The One: x://1 (First)', annotations: UNDATED },
  { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 'one' }, annotations: UNDATED },
]

describe('titles', () => {
  test('titles are the names of resources and templates, which people read then', () => {
    proves('T-VER-018', 'T-RES-017', 'T-RES-030', 'T-RES-031', 'R-VER-003')
    expect(before.downgradeResult('resources/list', RESULTS['resources/list'] as Json).resources).toEqual([
      { uri: 'x://1', name: 'The One', description: 'First', mimeType: 'text/plain', size: 3, annotations: UNDATED },
      { uri: 'x://2', name: 'two' },
    ])
    expect(before.downgradeResult('resources/templates/list', RESULTS['resources/templates/list'] as Json).resourceTemplates).toEqual([
      { uriTemplate: 'x://{id}', name: 'Any One', description: 'Any', mimeType: 'text/plain', annotations: UNDATED },
    ])
    const { icons: _, ...plain } = RESOURCE
    expect((own.downgradeResult('resources/list', RESULTS['resources/list'] as Json).resources as unknown[])[0]).toEqual(plain)
  })

  test('titles are left out of tools, prompts and their arguments, whose names are for programs', () => {
    proves('T-VER-018', 'T-TOOL-019', 'T-PROM-016', 'R-VER-003')
    const [tool] = before.downgradeResult('tools/list', RESULTS['tools/list'] as Json).tools as Json[]
    expect(tool).toMatchObject({ name: 'add', description: 'Adds', annotations: { title: 'Adder' } })
    expect(tool).not.toHaveProperty('title')
    expect(before.downgradeResult('prompts/list', RESULTS['prompts/list'] as Json).prompts).toEqual([
      { name: 'p', description: 'Prompts', arguments: [{ name: 'a', description: 'First', required: true }] },
    ])
    expect((own.downgradeResult('tools/list', RESULTS['tools/list'] as Json).tools as Json[])[0]).toMatchObject({ title: 'Add' })
    expect((own.downgradeResult('prompts/list', RESULTS['prompts/list'] as Json).prompts as Json[])[0]).toMatchObject({
      title: 'The P',
      arguments: [{ title: 'The A' }],
    })
  })

  test('titles are left out of implementations', () => {
    proves('T-LIFE-006', 'R-VER-003')
    expect(before.downgradeParams('initialize', { clientInfo: IMPLEMENTATION })).toEqual({ clientInfo: { name: 'rich', version: '1.0.0' } })
    expect(before.downgradeResult('initialize', { serverInfo: IMPLEMENTATION })).toEqual({ serverInfo: { name: 'rich', version: '1.0.0' } })
  })
})

describe('tools', () => {
  test('tools keep output that is an object, and its schema, for peers of any revision', () => {
    proves('T-TOOL-022', 'T-TOOL-033')
    for (const revision of [before, own]) {
      expect((revision.downgradeResult('tools/list', RESULTS['tools/list'] as Json).tools as Json[])[0]).toHaveProperty('outputSchema')
      expect(revision.downgradeResult('tools/call', RESULTS['tools/call'] as Json)).toMatchObject({ structuredContent: { sum: 2 } })
    }
  })
})

describe('content', () => {
  test('links in content are text with title, address and description before 2025-06-18', () => {
    proves('T-VER-015', 'T-TOOL-026', 'T-TOOL-028', 'R-VER-003')
    expect(before.downgradeResult('tools/call', RESULTS['tools/call'] as Json)).toEqual({
      content: PLAIN_BLOCKS,
      structuredContent: { sum: 2 },
      isError: false,
      _meta: { 'com.example/x': 1 },
    })
    expect(before.downgradeResult('tools/call', { content: [{ type: 'resource_link', uri: 'x://2', name: 'two' }] })).toEqual({
      content: [{ type: 'text', text: 'two: x://2' }],
    })
  })

  test('content of prompts is downgraded like that of tools', () => {
    proves('T-PROM-024')
    expect(before.downgradeResult('prompts/get', RESULTS['prompts/get'] as Json)).toMatchObject({
      messages: [...PLAIN_BLOCKS.map((content) => ({ role: 'user', content })), { role: 'assistant', content: PLAIN_BLOCKS[0] }],
    })
  })

  test('content has metadata and dates from 2025-06-18 on', () => {
    proves('T-META-011', 'T-RES-041', 'T-TOOL-025', 'T-TOOL-032', 'R-VER-003')
    const { icons: _, ...link } = LINK
    expect(own.downgradeResult('tools/call', RESULTS['tools/call'] as Json).content).toEqual([TEXT, IMAGE, AUDIO, link, EMBEDDED])
    expect(JSON.stringify(before.downgradeResult('tools/call', RESULTS['tools/call'] as Json).content)).not.toMatch(/_meta|lastModified/)
  })
})

test.each(['tools/list', 'resources/list', 'resources/templates/list', 'resources/read', 'prompts/list', 'roots/list'])(
  'the result of %s has metadata from 2025-06-18 on',
  (method) => {
    proves('T-META-011')
    const [listed, plain] = [own, before].map((revision) => {
      const { _meta, ...rest } = revision.downgradeResult(method, RESULTS[method] as Json)
      return JSON.stringify(rest)
    })
    expect(listed).toContain('"_meta":{"com.example/x":1}')
    expect(plain).not.toContain('_meta')
  },
)

describe('completion', () => {
  test('completion has its context, and the title of the prompt, from 2025-06-18 on', () => {
    proves('T-VER-017', 'T-COMP-010', 'R-VER-003')
    const params = PARAMS['completion/complete'] as Json
    expect(own.downgradeParams('completion/complete', params)).toBe(params)
    expect(before.downgradeParams('completion/complete', params)).toEqual({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'a', value: 'x' },
    })
  })
})

describe('elicitation', () => {
  test('elicitation is declared from 2025-06-18 on', () => {
    proves('T-VER-016', 'R-VER-003')
    const params = { capabilities: { elicitation: { form: {} }, roots: {} } }
    expect(own.downgradeParams('initialize', params)).toEqual({ capabilities: { elicitation: {}, roots: {} } })
    expect(before.downgradeParams('initialize', params)).toEqual({ capabilities: { roots: {} } })
    expect([own.has('elicitation/create'), before.has('elicitation/create')]).toEqual([true, false])
  })
})

test('sampling has plain blocks before 2025-06-18', () => {
  expect(before.downgradeParams('sampling/createMessage', { messages: [{ role: 'user', content: TEXT }] })).toEqual({
    messages: [{ role: 'user', content: PLAIN_BLOCKS[0] }],
  })
  expect(before.downgradeResult('sampling/createMessage', { role: 'assistant', content: TEXT, model: 'm' })).toEqual({
    role: 'assistant',
    content: PLAIN_BLOCKS[0],
    model: 'm',
  })
})
