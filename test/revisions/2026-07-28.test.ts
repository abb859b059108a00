/** What 2026-07-28 brought, as a peer of 2025-11-25 sees it. */

import { describe, expect, test } from 'vitest'
import { type Revision, revisionOf } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { PARAMS, RESULTS, TOOL, TOOL_RESULT } from './rich-messages.ts'

type Json = Record<string, unknown>

const before = revisionOf('2025-11-25') as Revision
const without = (value: unknown, ...keys: string[]): Json =>
  Object.fromEntries(Object.entries(value as Json).filter(([key]) => !keys.includes(key)))
const PLAIN_INPUT = { type: 'object', properties: { a: { type: 'number' }, any: {}, none: { not: {} } }, required: ['a'] }
const PLAIN_OUTPUT = { type: 'object', properties: { sum: { type: 'number' }, any: {} }, required: ['sum'] }
const PLAIN_TOOL = { ...TOOL, inputSchema: PLAIN_INPUT, outputSchema: PLAIN_OUTPUT }

describe('results', () => {
  test.each(['resources/list', 'resources/templates/list', 'resources/read', 'prompts/list'])(
    'results of %s have no cache hints and no type before 2026-07-28',
    (method) => {
      expect(before.downgradeResult(method, RESULTS[method] as Json)).toEqual(without(RESULTS[method], 'resultType', 'ttlMs', 'cacheScope'))
    },
  )

  test.each(['prompts/get', 'completion/complete', 'tools/call'])('results of %s have no type before 2026-07-28', (method) => {
    expect(before.downgradeResult(method, RESULTS[method] as Json)).toEqual(without(RESULTS[method], 'resultType'))
  })

  test.each([[[1, 2]], ['text'], [5], [true], [null]])('results of a tool have no structured content that is %j', (structuredContent) => {
    expect(before.downgradeResult('tools/call', { content: [], structuredContent })).toEqual({ content: [] })
  })

  test('results of a tool keep structured content that is an object', () => {
    proves('T-TOOL-033')
    const result = { content: [], structuredContent: { sum: 2 } }
    expect(before.downgradeResult('tools/call', result)).toBe(result)
  })

  test('results of initialize name no extensions', () => {
    const { capabilities, ...rest } = RESULTS.initialize as { capabilities: Json }
    expect(before.downgradeResult('initialize', RESULTS.initialize as Json)).toEqual({
      ...rest,
      capabilities: without(capabilities, 'extensions'),
    })
  })
})

describe('tools', () => {
  test('describe their output only if it is an object, and every property by a schema that is one', () => {
    expect(before.downgradeResult('tools/list', RESULTS['tools/list'] as Json)).toEqual({
      ...without(RESULTS['tools/list'], 'resultType', 'ttlMs', 'cacheScope'),
      tools: [PLAIN_TOOL, { name: 'list', inputSchema: { type: 'object' } }],
    })
  })

  test.each<[unknown, boolean]>([
    [{ type: 'object' }, true],
    [{ type: 'array' }, false],
    [{ type: 'string' }, false],
    [{ type: ['object', 'null'] }, false],
    [{ anyOf: [{ type: 'object' }] }, false],
    [{}, false],
  ])('tools with the output schema %j keep it: %s', (outputSchema, isKept) => {
    const tool = { name: 'x', inputSchema: { type: 'object' }, outputSchema }
    expect(before.downgradeResult('tools/list', { tools: [tool] })).toEqual({ tools: [isKept ? tool : without(tool, 'outputSchema')] })
  })
})

describe('parameters', () => {
  test.each(['tools/call', 'prompts/get', 'resources/read'])('parameters of %s have no answers of an earlier round', (method) => {
    expect(before.downgradeParams(method, PARAMS[method] as Json)).toEqual(without(PARAMS[method], 'inputResponses', 'requestState'))
  })

  test('parameters of initialize name no extensions', () => {
    const { capabilities, ...rest } = PARAMS.initialize as { capabilities: Json }
    expect(before.downgradeParams('initialize', PARAMS.initialize as Json)).toEqual({
      ...rest,
      capabilities: without(capabilities, 'extensions'),
    })
  })

  test('parameters of sampling have tools and their results in their own shapes', () => {
    const params = PARAMS['sampling/createMessage'] as { messages: Json[] }
    const fitted = before.downgradeParams('sampling/createMessage', params)
    expect(fitted.tools).toEqual([PLAIN_TOOL, without(PLAIN_TOOL, 'outputSchema')])
    const plainResult = without(TOOL_RESULT, 'structuredContent')
    const messages = structuredClone(params.messages) as [Json, Json, { content: Json[] }, { content: Json }]
    messages[2].content[0] = plainResult
    messages[3].content = plainResult
    expect(fitted.messages).toEqual(messages)
    expect(without(fitted, 'tools', 'messages')).toEqual(without(params, 'tools', 'messages'))
  })

  test.each(
    Object.keys(PARAMS).filter(
      (method) => !['tools/call', 'prompts/get', 'resources/read', 'initialize', 'sampling/createMessage'].includes(method),
    ),
  )('parameters of %s are unchanged', (method) => {
    expect(before.downgradeParams(method, PARAMS[method] as Json)).toBe(PARAMS[method])
  })
})
