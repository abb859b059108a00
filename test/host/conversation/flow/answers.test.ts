/** Every kind of answer is cut to size, whatever a server put into it. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMPLETION, PROMPT_RESULT, READ_RESULT, TOOL_RESULT } from '../../../../src/host/conversation/flow/answers.ts'
import { inspectResult } from '../../../../src/host/conversation/flow/inspect-result.ts'

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
/** Notes and small members may come on top of the bound. */
const SLACK = 1_400

const junk = fc.oneof(fc.constant(null), fc.string(), fc.integer())
const text = fc.string({ unit: 'binary', maxLength: 4_000 })
const resource = fc.record({ uri: fc.string(), text }, { requiredKeys: ['uri'] })
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('image'), data: fc.string({ maxLength: 3_000 }), mimeType: fc.constant('image/png') }),
  fc.record({ type: fc.constant('resource'), resource }),
  junk,
)
const meta = fc.option(fc.record({ note: fc.string({ maxLength: 5_000 }) }), { nil: undefined })

const answers = {
  tool: fc.record({ content: fc.array(block), structuredContent: fc.option(fc.jsonValue(), { nil: undefined }), _meta: meta }),
  read: fc.record({
    contents: fc.array(fc.oneof(resource, fc.record({ uri: fc.string(), blob: fc.string({ maxLength: 3_000 }) }), junk)),
    _meta: meta,
  }),
  prompt: fc.record(
    {
      description: text,
      messages: fc.array(fc.oneof(fc.record({ role: fc.constantFrom('user', 'assistant'), content: block }), junk)),
      _meta: meta,
    },
    { requiredKeys: ['messages'] },
  ),
  completion: fc.record({ values: fc.array(text), total: fc.nat() }, { requiredKeys: ['values'] }),
}

const SHAPES = { tool: TOOL_RESULT, read: READ_RESULT, prompt: PROMPT_RESULT, completion: COMPLETION } as const

describe.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])('an answer of kind %s', (kind) => {
  const shape = SHAPES[kind] as (typeof SHAPES)['tool']

  test('an answer never exceeds its limit, and can be inspected with any content', () => {
    fc.assert(
      fc.property(answers[kind] as fc.Arbitrary<never>, fc.integer({ min: 200, max: 5_000 }), (answer, maxBytes) => {
        expect(() => inspectResult(shape.view(answer))).not.toThrow()
        const cut = shape.cap(answer, maxBytes)
        expect(sizeOf(cut)).toBeLessThanOrEqual(maxBytes + SLACK)
        expect(() => shape.view(cut)).not.toThrow()
      }),
      { numRuns: 200 },
    )
  })
})

test('an answer within the limit is unchanged', () => {
  const prompt = {
    description: 'd',
    messages: [{ role: 'assistant' as const, content: { type: 'text' as const, text: 'hi' } }],
    _meta: { a: 1 },
  }
  expect(PROMPT_RESULT.cap(prompt, 1_000)).toEqual(prompt)
  const read = {
    contents: [
      { uri: 'a://b', text: 'x' },
      { uri: 'a://c', blob: 'AAAA' },
    ],
    ttlMs: 5,
  }
  expect(READ_RESULT.cap(read, 1_000)).toEqual(read)
  expect(COMPLETION.cap({ values: ['a'], total: 7 }, 1_000)).toEqual({ values: ['a'], total: 7 })
})

test('an answer over the limit is cut, with a note at the cut', () => {
  const read = READ_RESULT.cap(
    {
      contents: [
        { uri: 'a://b', text: 'x'.repeat(900) },
        { uri: 'a://c', text: 'y' },
      ],
    },
    500,
  )
  expect(read.contents).toEqual([
    { uri: 'a://b', text: expect.stringMatching(/^x{300,}$/) },
    { uri: 'a://b', mimeType: 'text/plain', text: expect.stringContaining('left out') },
  ])
  const prompt = PROMPT_RESULT.cap(
    { description: 'd', messages: [{ role: 'assistant', content: { type: 'text', text: 'x'.repeat(900) } }] },
    500,
  )
  expect(prompt).toEqual({
    description: 'd',
    messages: [
      { role: 'assistant', content: { type: 'text', text: expect.stringMatching(/^x{300,}$/) } },
      { role: 'user', content: { type: 'text', text: expect.stringContaining('left out') } },
    ],
  })
  expect(COMPLETION.cap({ values: ['x'.repeat(10), 'y'.repeat(900)] }, 500)).toEqual({ values: ['x'.repeat(10)], hasMore: true })
})
