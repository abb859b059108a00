/** What 2025-03-26 brought, as a peer of 2024-11-05 sees it. */

import { describe, expect, test } from 'vitest'
import { type Revision, revisionOf } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { AUDIO, PARAMS, RESULTS } from './rich-messages.ts'

type Json = Record<string, unknown>

const before = revisionOf('2024-11-05') as Revision
const own = revisionOf('2025-03-26') as Revision
const UNDATED = { audience: ['user', 'assistant'], priority: 0.5 }
const PLAIN_AUDIO = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: UNDATED }
const NOTE = { type: 'text', text: '[audio of type audio/wav omitted: this protocol revision has no audio]' }

describe('audio', () => {
  test('audio in a tool result is an embedded resource with the same bytes before 2025-03-26', () => {
    proves('T-VER-019')
    const resource = { uri: 'urn:portico:audio', mimeType: 'audio/wav', blob: 'AAAA' }
    expect(before.downgradeResult('tools/call', { content: [AUDIO] })).toEqual({
      content: [{ type: 'resource', resource, annotations: UNDATED }],
    })
    expect(before.downgradeResult('tools/call', { content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }] })).toEqual({
      content: [{ type: 'resource', resource }],
    })
    expect(before.downgradeResult('prompts/get', { messages: [{ role: 'user', content: AUDIO }] })).toEqual({
      messages: [{ role: 'user', content: { type: 'resource', resource, annotations: UNDATED } }],
    })
  })

  test('audio in sampling, where nothing can be embedded, is a note before 2025-03-26', () => {
    proves('T-VER-019')
    expect(before.downgradeParams('sampling/createMessage', { messages: [{ role: 'user', content: AUDIO }] })).toEqual({
      messages: [{ role: 'user', content: NOTE }],
    })
    expect(before.downgradeResult('sampling/createMessage', { role: 'assistant', content: AUDIO, model: 'm' })).toEqual({
      role: 'assistant',
      content: NOTE,
      model: 'm',
    })
  })

  test('audio is unchanged from 2025-03-26 on', () => {
    proves('T-PROM-028', 'R-VER-002')
    expect(own.downgradeResult('tools/call', { content: [AUDIO] })).toEqual({ content: [PLAIN_AUDIO] })
    expect(own.downgradeParams('sampling/createMessage', { messages: [{ role: 'user', content: AUDIO }] })).toEqual({
      messages: [{ role: 'user', content: PLAIN_AUDIO }],
    })
  })
})

test('progress has a message from 2025-03-26 on', () => {
  proves('T-PROG-009', 'R-VER-002')
  const params = PARAMS['notifications/progress'] as Json
  expect(before.downgradeParams('notifications/progress', params)).toEqual({ progressToken: 't', progress: 0.5, total: 1 })
  expect(own.downgradeParams('notifications/progress', params)).toBe(params)
})

test('completion is declared from 2025-03-26 on', () => {
  proves('T-LIFE-022', 'R-VER-002')
  const declared = (revision: Revision): Json => revision.downgradeResult('initialize', RESULTS.initialize as Json).capabilities as Json
  expect(declared(before)).toEqual({
    experimental: { 'x/y': {} },
    logging: {},
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    tools: { listChanged: true },
  })
  expect(declared(own)).toEqual({ ...declared(before), completions: {} })
  expect([before.completesUnannounced, own.completesUnannounced]).toEqual([true, false])
})

test('tools have annotations from 2025-03-26 on', () => {
  proves('T-TOOL-023', 'R-VER-002')
  const listed = (revision: Revision): Json[] => revision.downgradeResult('tools/list', RESULTS['tools/list'] as Json).tools as Json[]
  expect(listed(before)).toEqual([
    {
      name: 'add',
      description: 'Adds',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, any: {}, none: { not: {} } }, required: ['a'] },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' }, any: {} }, required: ['sum'] },
    },
    { name: 'list', inputSchema: { type: 'object' } },
  ])
  expect(listed(own)[0]).toMatchObject({ annotations: { title: 'Adder', readOnlyHint: true } })
})

test('resources have a size in every revision', () => {
  proves('T-RES-034', 'R-VER-005')
  for (const revision of [before, own])
    expect((revision.downgradeResult('resources/list', RESULTS['resources/list'] as Json).resources as Json[])[0]).toEqual({
      uri: 'x://1',
      name: 'The One',
      description: 'First',
      mimeType: 'text/plain',
      size: 3,
      annotations: UNDATED,
    })
})

test('older content reaches the oldest peer unchanged', () => {
  proves('T-RES-035', 'T-RES-036', 'T-RES-038', 'T-PROM-025', 'T-PROM-026', 'T-PROM-030', 'T-TOOL-030')
  const content = [
    { type: 'text', text: 'x', annotations: UNDATED },
    { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: UNDATED },
    { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 'x' }, annotations: UNDATED },
  ]
  const result = { content, isError: true, _meta: { a: 1 } }
  expect(before.downgradeResult('tools/call', result)).toEqual(result)
  const prompt = { description: 'd', messages: content.map((each) => ({ role: 'assistant', content: each })) }
  expect(before.downgradeResult('prompts/get', prompt)).toEqual(prompt)
  const read = {
    contents: [
      { uri: 'x://1', mimeType: 'text/plain', text: 'x' },
      { uri: 'x://2', blob: 'AAAA' },
    ],
  }
  expect(before.downgradeResult('resources/read', read)).toEqual(read)
  const resources = { resources: [{ uri: 'x://1', name: 'one', description: 'd', mimeType: 't/p', annotations: UNDATED }], nextCursor: 'n' }
  expect(before.downgradeResult('resources/list', resources)).toEqual(resources)
})
