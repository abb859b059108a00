import { describe, expect, test } from 'vitest'
import { checkSamplingParams, checkSamplingResult, DEFAULT_REQUEST_LIMITS } from '../../../src/host/sampling/request.ts'
import { proves } from '../../support/proves.ts'
import { question } from './gates.ts'

const text = { type: 'text', text: 'hi' }
const use = { type: 'tool_use', id: 'u1', name: 'lookup', input: {} }
const result = { type: 'tool_result', toolUseId: 'u1', content: [] }
const tool = { name: 'lookup', inputSchema: { type: 'object' } }
const said = (...messages: unknown[]) => ({ messages, maxTokens: 1 })

describe('a sampling request', () => {
  test('a sampling request with every member of the protocol is accepted unchanged', () => {
    proves('R-SAMP-009', 'R-SAMP-010', 'R-SAMP-011')
    const params = {
      messages: [
        { role: 'user', content: [text, { type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
        { role: 'assistant', content: [text, use] },
        { role: 'user', content: [result] },
        { role: 'user', content: { type: 'audio', data: 'AAA=', mimeType: 'audio/wav' } },
      ],
      maxTokens: 10,
      systemPrompt: 's',
      includeContext: 'none',
      temperature: 0,
      stopSequences: ['x'],
      modelPreferences: { hints: [{ name: 'a', other: 1 }], costPriority: 0, speedPriority: 1 },
      metadata: { a: 1 },
      tools: [tool],
      toolChoice: {},
    }
    expect(checkSamplingParams(params)).toBe(params)
  })

  test.each<[string, unknown]>([
    ['messages must be a list', undefined],
    ['messages must be a list', { maxTokens: 1 }],
    ['messages must contain at least one message', said()],
    ['messages[0] must have the role user or assistant', said({ role: 'system', content: text })],
    ['messages[0] must have content', said({ role: 'user', content: [] })],
    ['messages[0] must have content of a known type', said({ role: 'user' })],
    [
      'messages[1] must have content of the type',
      said({ role: 'user', content: text }, { role: 'user', content: { type: 'resource', resource: {} } }),
    ],
    ['messages[0] has a text that is not a string', said({ role: 'user', content: { type: 'text' } })],
    [
      'messages[0] has image without mimeType or base64 data',
      said({ role: 'user', content: { type: 'image', data: '!', mimeType: 'image/png' } }),
    ],
    ['messages[0] has audio without mimeType or base64 data', said({ role: 'user', content: { type: 'audio', data: 'AAAA' } })],
    ['messages[0] has a tool use without id, name or input', said({ role: 'assistant', content: { ...use, input: 1 } })],
    ['messages[0] has a tool result without toolUseId or content', said({ role: 'user', content: { ...result, content: ['x'] } })],
    ['messages[0] answers a tool use that was not made', said({ role: 'user', content: result })],
    ['messages[0] leaves the tool use u1 without a result', said({ role: 'assistant', content: use })],
    ['messages[1] leaves the tool use u1 without a result', said({ role: 'assistant', content: use }, { role: 'user', content: text })],
    [
      'messages[1] mixes tool results with other content',
      said({ role: 'assistant', content: use }, { role: 'user', content: [result, text] }),
    ],
    [
      'messages[1] has tool results that are not from the user',
      said({ role: 'assistant', content: use }, { role: 'assistant', content: result }),
    ],
    ['messages[0] has a tool use that is not from the assistant', said({ role: 'user', content: use })],
    ['messages[0] has two tool uses of one id', said({ role: 'assistant', content: [use, use] })],
    ['maxTokens must be a whole number', { ...question(), maxTokens: 0 }],
    ['maxTokens must be a whole number', { ...question(), maxTokens: 1.5 }],
    ['systemPrompt must be a string', { ...question(), systemPrompt: 1 }],
    ['includeContext must be none, thisServer or allServers', { ...question(), includeContext: 'all' }],
    ['temperature must be a number', { ...question(), temperature: '1' }],
    ['stopSequences must be a list of strings', { ...question(), stopSequences: [1] }],
    ['modelPreferences must be an object', { ...question(), modelPreferences: 1 }],
    ['modelPreferences.costPriority must be a number from 0 to 1', { ...question(), modelPreferences: { costPriority: 1.2 } }],
    ['modelPreferences.speedPriority must be a number from 0 to 1', { ...question(), modelPreferences: { speedPriority: -0.1 } }],
    ['modelPreferences.hints must be a list of objects', { ...question(), modelPreferences: { hints: ['x'] } }],
    ['toolChoice.mode must be', { ...question(), toolChoice: { mode: 'any' } }],
    ['tools must be a list of tools', { ...question(), tools: [{ name: 'x' }] }],
    ['tools must have different names', { ...question(), tools: [tool, tool] }],
  ])('a sampling request is refused: %s', (message, params) => {
    proves('T-SAMP-041')
    expect(() => checkSamplingParams(params)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_PARAMS', message: expect.stringContaining(message) }),
    )
  })

  test.each([
    ['messages', 1000, (count: number) => said(...Array.from({ length: count }, () => ({ role: 'user', content: text })))],
    ['tools', 128, (count: number) => ({ ...question(), tools: Array.from({ length: count }, (_, at) => ({ ...tool, name: `t${at}` })) })],
    ['stop sequences', 16, (count: number) => ({ ...question(), stopSequences: Array.from({ length: count }, String) })],
  ] as const)('the number of items in a sampling request is limited: %s, %i', (what, max, params) => {
    checkSamplingParams(params(max - 1))
    checkSamplingParams(params(max))
    expect(() => checkSamplingParams(params(max + 1))).toThrow(
      expect.objectContaining({ code: 'ERR_LIMIT', message: `A sampling request may contain at most ${max} ${what}; got ${max + 1}` }),
    )
  })

  test('the length of a sampling request is limited', () => {
    const chars = JSON.stringify([question().messages, undefined, undefined]).length
    checkSamplingParams(question(), { ...DEFAULT_REQUEST_LIMITS, maxRequestChars: chars })
    expect(() => checkSamplingParams(question(), { ...DEFAULT_REQUEST_LIMITS, maxRequestChars: chars - 1 })).toThrow('maxRequestChars')
  })
})

test('an answer must be an assistant message that names its model', () => {
  const answer = { role: 'assistant', content: text, model: 'm' }
  expect(checkSamplingResult(answer)).toBe(answer)
  for (const wrong of [
    undefined,
    {},
    { ...answer, role: 'user' },
    { ...answer, model: 1 },
    { ...answer, content: [result] },
    { ...answer, content: 'x' },
  ])
    expect(() => checkSamplingResult(wrong)).toThrow(expect.objectContaining({ code: 'ERR_ANSWER_INVALID' }))
})
