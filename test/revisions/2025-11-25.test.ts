/** What 2025-11-25 brought, as a peer of 2025-06-18 sees it. */

import { describe, expect, test } from 'vitest'
import { type Revision, revisionOf } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { FORM, IMAGE, IMPLEMENTATION, PARAMS, RESULTS, TEXT, TOOL_USE } from './rich-messages.ts'

type Json = Record<string, unknown>

const before = revisionOf('2025-06-18') as Revision
const own = revisionOf('2025-11-25') as Revision

describe('capabilities of a client', () => {
  const fitted = (capabilities: Json): unknown => before.downgradeParams('initialize', { capabilities }).capabilities

  test('elicitation by form is declared as an empty object', () => {
    proves('T-ELIC-011', 'T-ELIC-012')
    for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) expect(fitted({ elicitation })).toEqual({ elicitation: {} })
    for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }, { url: {} }]) {
      expect(own.downgradeParams('initialize', { capabilities: { elicitation } })).toEqual({ capabilities: { elicitation } })
    }
  })

  test('elicitation by URL alone is not declared', () => {
    proves('T-VER-016', 'T-ELIC-002')
    expect(fitted({ elicitation: { url: {} }, roots: {} })).toEqual({ roots: {} })
  })

  test('sampling has no sub-capabilities, and experimental or unknown capabilities stay', () => {
    proves('T-LIFE-017', 'T-LIFE-026', 'R-LIFE-003')
    expect(fitted({ sampling: { context: {}, tools: {} }, experimental: { x: { y: 1 } }, 'x-own': {} })).toEqual({
      sampling: {},
      experimental: { x: { y: 1 } },
      'x-own': {},
    })
  })
})

test('an implementation has a name, a version and a title', () => {
  proves('T-LIFE-006', 'R-LIFE-002')
  const plain = { name: 'rich', version: '1.0.0', title: 'Rich' }
  expect(before.downgradeParams('initialize', { clientInfo: IMPLEMENTATION })).toEqual({ clientInfo: plain })
  expect(before.downgradeResult('initialize', { serverInfo: IMPLEMENTATION })).toEqual({ serverInfo: plain })
})

test.each<[string, string]>([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
  ['prompts/list', 'prompts'],
])('the list of %s has no icons, and keeps all else', (method, member) => {
  const listed = own.downgradeResult(method, RESULTS[method] as Json)
  const expected = (listed[member] as Json[]).map(({ icons: _, ...rest }) => rest)
  expect(JSON.stringify(listed)).toContain('"icons"')
  expect(before.downgradeResult(method, RESULTS[method] as Json)).toEqual({ ...listed, [member]: expected })
})

test('links in results and prompts have no icons', () => {
  for (const method of ['tools/call', 'prompts/get']) {
    const expected = JSON.parse(
      JSON.stringify(own.downgradeResult(method, RESULTS[method] as Json)).replace(/"icons":\[[^\]]*\][^\]]*\],/, ''),
    ) as Json
    expect(JSON.stringify(expected)).not.toContain('icons')
    expect(before.downgradeResult(method, RESULTS[method] as Json)).toEqual(expected)
  }
})

describe('sampling', () => {
  test('sampling has no tools and one block per message, and tool use becomes text', () => {
    const params = PARAMS['sampling/createMessage'] as Json
    const { messages, ...rest } = before.downgradeParams('sampling/createMessage', params)
    const { messages: _, tools: _tools, toolChoice: _choice, ...kept } = params
    expect(rest).toEqual(kept)
    const call = { type: 'text', text: '[call of tool add: {"a":1}]' }
    const result = { type: 'text', text: '[result of tool call: hi\n[image]]' }
    expect(messages).toEqual([
      { role: 'user', content: TEXT },
      { role: 'assistant', content: TEXT },
      { role: 'assistant', content: call },
      { role: 'user', content: result },
      { role: 'user', content: expect.objectContaining({ type: 'audio' }) as unknown },
      { role: 'user', content: result },
      { role: 'assistant', content: call },
      { role: 'user', content: IMAGE },
    ])
  })

  test.each<[name: string, content: unknown, expected: unknown]>([
    ['one block', TEXT, TEXT],
    ['a list of one block', [IMAGE], IMAGE],
    ['several texts', [TEXT, { type: 'text', text: 'there' }], { type: 'text', text: 'hi\nthere' }],
    [
      'a text and a call',
      [{ type: 'text', text: 'Let me add' }, TOOL_USE],
      { type: 'text', text: 'Let me add\n[call of tool add: {"a":1}]' },
    ],
    ['a text and an image', [TEXT, IMAGE], TEXT],
    ['nothing', [], { type: 'text', text: '' }],
  ])('sampling is answered with one block: %s', (_name, content, expected) => {
    expect(before.downgradeResult('sampling/createMessage', { role: 'assistant', content, model: 'm' })).toEqual({
      role: 'assistant',
      content: expected,
      model: 'm',
    })
  })
})

describe('a form', () => {
  const fitted = before.downgradeParams('elicitation/create', { mode: 'form', message: 'Please', requestedSchema: FORM })

  test('a form has no mode or dialect, and its fields have only members of the revision', () => {
    proves('T-ELIC-024', 'T-ELIC-028', 'T-ELIC-034')
    expect(fitted).toEqual({
      message: 'Please',
      requestedSchema: {
        type: 'object',
        properties: {
          text: { type: 'string', title: 'Text', description: 'A text', minLength: 1, maxLength: 9, format: 'email' },
          number: { type: 'number', title: 'Number', minimum: 0, maximum: 9 },
          integer: { type: 'integer', description: 'Whole' },
          sure: { type: 'boolean', title: 'Sure', default: true },
          color: { type: 'string', title: 'Color', enum: ['r', 'g'], enumNames: ['Red', 'Green'] },
          plain: { type: 'string', enum: ['a', 'b'] },
          named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
          many: { type: 'string', title: 'Many', description: 'Any of these, separated by commas: a, b' },
          titled: { type: 'string', description: 'Pick (Any of these, separated by commas: x (The X))' },
        },
        required: ['text', 'many'],
      },
    })
    expect(
      before.downgradeParams('elicitation/create', {
        message: 'm',
        requestedSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^a' } } },
      }),
    ).toEqual({
      message: 'm',
      requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
    })
  })

  test('a form is sent as it is to a peer that has all of it', () => {
    proves('T-ELIC-003')
    const params = { mode: 'form', message: 'Please', requestedSchema: FORM }
    expect(own.downgradeParams('elicitation/create', params)).toBe(params)
    const page = { mode: 'url', message: 'Please', url: 'https://example.com', elicitationId: 'e' }
    expect(own.downgradeParams('elicitation/create', page)).toBe(page)
  })

  test('a form is answered without lists', () => {
    expect(before.downgradeResult('elicitation/create', RESULTS['elicitation/create'] as Json)).toEqual({
      action: 'accept',
      content: { text: 'a@b', number: 1.5, sure: true, many: 'a' },
    })
    expect(own.downgradeResult('elicitation/create', RESULTS['elicitation/create'] as Json)).toBe(RESULTS['elicitation/create'])
  })
})
