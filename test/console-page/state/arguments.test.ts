/** Arguments of calls: from addresses, templates, prompts and earlier calls. */

import { describe, expect, test } from 'vitest'
import { argumentsIn, argumentsLine, pastCalls, promptSchema, templateForm, textArguments } from '../../../console/src/state/arguments.ts'
import { decisionWords } from '../../../console/src/state/explain.ts'
import { jsonParam } from '../../../console/src/state/search-params.ts'
import type { RecentCall, SavedCall } from '../../../src/console/api.ts'

test('arguments of an address are an object, or a fault says what is wrong', () => {
  expect(argumentsIn(undefined)).toEqual({})
  expect(argumentsIn('{"a":1}')).toEqual({ args: { a: 1 } })
  expect(argumentsIn('[1]').fault).toContain('JSON object')
  expect(argumentsIn('{a}').fault).toContain('not JSON')
  expect(jsonParam({ args: { a: 1 } }, 'args')).toBe('{"a":1}')
  expect(jsonParam({ args: '{"a":1}' }, 'args')).toBe('{"a":1}')
})

test('the form of a prompt has a text for each argument', () => {
  const schema = promptSchema({
    name: 'p',
    arguments: [
      { name: 'id', description: 'The id', required: true },
      { name: 'tag', title: 'Tag' },
    ],
  })
  expect(schema).toEqual({
    type: 'object',
    properties: { id: { type: 'string', description: 'The id' }, tag: { type: 'string', title: 'Tag' } },
    required: ['id'],
  })
})

test('the form of a template asks for the path and leaves the query to the person', () => {
  const { schema, expand } = templateForm('note://{folder}/{id}{?limit,offset}')
  expect(schema.required).toEqual(['folder', 'id'])
  expect(expand({ folder: 'a b' })).toBeUndefined()
  expect(expand({ folder: 'a b', id: '1' })).toBe('note://a%20b/1')
  expect(expand({ folder: 'a', id: '1', limit: '5', offset: '' })).toBe('note://a/1?limit=5')
})

test('arguments are short in one line', () => {
  expect(argumentsLine({})).toBe('without arguments')
  expect(argumentsLine({ title: 'Milk', tags: ['home'] })).toBe('title: "Milk", tags: ["home"]')
  expect(argumentsLine({ text: 'x'.repeat(500) }).length).toBeLessThan(100)
  expect(textArguments({ a: 'x', b: 1 })).toEqual({ a: 'x' })
})

describe('calls to use again', () => {
  const recent = (seq: number, args: Record<string, unknown> | undefined, name = 'search'): RecentCall => ({
    seq,
    at: seq,
    kind: 'tool',
    server: 'notes',
    name,
    ...(args && { args }),
    by: 'person',
    outcome: 'done',
  })
  const saved: SavedCall = { id: 's1', savedAt: 1, title: 'All', kind: 'tool', server: 'notes', name: 'search', args: { query: 'a' } }

  test('saved ones come first, then different last ones of the same tool that the log has in full', () => {
    const calls = [
      recent(5, { query: 'b' }),
      recent(4, { query: 'b' }),
      recent(3, undefined),
      recent(2, { id: '1' }, 'read'),
      recent(1, {}),
    ]
    const past = pastCalls({ kind: 'tool', server: 'notes', name: 'search' }, [saved, { ...saved, id: 's2', name: 'read' }], calls, String)
    expect(past.map(({ key, title }) => `${key}: ${title}`)).toEqual(['s1: All', 'recent 5: query: "b"', 'recent 1: without arguments'])
    expect(past[1]).toMatchObject({ about: '5, by you', args: { query: 'b' } })
  })
})

test('decisions are told in a few words', () => {
  const of = (effect: 'allow' | 'ask' | 'deny' | 'quarantine', more = {}) =>
    decisionWords({ decision: { effect, reasons: [], limits: {}, ...more } })
  expect(of('allow')).toEqual({ word: 'allowed without a question', tone: 'fine' })
  expect(of('allow', { grant: 'g' }).word).toContain('you allowed it before')
  expect(of('ask', { isForced: true }).word).toBe('you are asked each time')
  expect([of('ask').tone, of('deny').tone, of('quarantine').tone]).toEqual(['waiting', 'danger', 'danger'])
})
