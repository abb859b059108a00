/** What holds for every message kind in every revision. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { METHODS } from '../../src/protocol/methods.ts'
import { META } from '../../src/protocol/model/base.ts'
import { REVISIONS, type Revision } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { definitionsOf, hasPublishedSchemas } from '../support/published-schemas.ts'
import { AUDIO, deepFreeze, PARAMS, RESULTS, TOOL_RESULT } from './rich-messages.ts'

type Json = Record<string, unknown>

const newest = REVISIONS.at(-1) as Revision
const EMPTY_RESULTS = new Set(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'subscriptions/listen'])
const lower = (revision: Revision, kind: 'params' | 'result', method: string, value: Json): Json =>
  kind === 'params' ? revision.downgradeParams(method, value) : revision.downgradeResult(method, value)

const KINDS: ['params' | 'result', string, Json][] = [
  ...Object.entries(PARAMS).map(([method, value]): ['params', string, Json] => ['params', method, value]),
  ...Object.entries(RESULTS).map(([method, value]): ['result', string, Json] => ['result', method, value]),
]

test('the rich messages are of every kind there is', () => {
  expect(Object.keys(PARAMS).sort()).toEqual([...METHODS.keys()].sort())
  const answered = [...METHODS.values()].filter(({ kind, method }) => kind === 'request' && !EMPTY_RESULTS.has(method))
  expect(Object.keys(RESULTS).sort()).toEqual(answered.map(({ method }) => method).sort())
})

describe.each(REVISIONS.map((revision) => [revision.version, revision] as const))('in %s', (version, revision) => {
  const spoken = KINDS.filter(([, method]) => revision.has(method))

  test.each(spoken)('the %s of %s have nothing that the published schema does not know', (kind, method, value) => {
    proves('T-BASE-003', 'T-LIFE-027')
    if (!hasPublishedSchemas) return console.warn('NOTE: not judged by the published schema, which is not here')
    const published = definitionsOf(version)
    const request = published.definitionOf(method) as string
    const fitted = lower(revision, kind, method, value)
    const [definition, message] =
      kind === 'params' ? [request, messageOf(revision, method, fitted)] : [request.replace(/Request$/, 'Result'), fitted]
    const validate = published.validate(definition)
    expect(validate(message), JSON.stringify(validate.errors?.slice(0, 4), null, 1)).toBe(true)
  })

  test.each(KINDS)('downgrading the %s of %s does not change its input, and is idempotent', (kind, method, value) => {
    const before = JSON.stringify(value)
    const once = deepFreeze(lower(revision, kind, method, value))
    expect(JSON.stringify(value)).toBe(before)
    expect(lower(revision, kind, method, once)).toEqual(once)
  })

  test.each(KINDS)('the %s of %s keep unknown members', (kind, method, value) => {
    proves('T-VER-002')
    expect(lower(revision, kind, method, { ...value, 'x-unknown': [1] })).toMatchObject({ 'x-unknown': [1] })
  })

  test.each(KINDS)('the %s of %s keep their metadata untouched', (kind, method, value) => {
    proves('T-META-001', 'T-META-003', 'R-META-017')
    const _meta = { progressToken: 7, 'io.modelcontextprotocol/odd': [null], 'com.example/x': { icons: [], title: 'x', _meta: {} } }
    expect(lower(revision, kind, method, { ...value, _meta })._meta).toBe(_meta)
  })

  test('an unknown method is left unchanged', () => {
    const value = deepFreeze({ title: 'x', _meta: {}, icons: [] })
    expect(revision.downgradeParams('x/unknown', value)).toBe(value)
    expect(revision.downgradeResult('x/unknown', value)).toBe(value)
    expect(revision.upgradeResult('x/unknown', value, {})).toBe(value)
    expect(revision.has('x/unknown')).toBe(false)
    expect(revision.has('toString')).toBe(false)
  })
})

describe('the newest revision', () => {
  test.each(KINDS)('the newest revision takes the %s of %s as they are, without a copy', (kind, method, value) => {
    expect(lower(newest, kind, method, value)).toBe(value)
  })
})

describe('with parts left out, of the wrong type or out of place', () => {
  /** The value with some of its parts removed or replaced by something else. */
  const damaged = (value: unknown, choose: () => number): unknown => {
    const dice = choose()
    if (dice < 4) return [null, 7, 'x', []][dice]
    if (Array.isArray(value)) return value.filter(() => choose() > 2).map((each) => damaged(each, choose))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key === 'type' || choose() > 9)
        .map(([key, each]) => [key, key === 'type' ? each : damaged(each, choose)]),
    )
  }

  test.each(KINDS)('downgrading the malformed %s of %s does not fail, is idempotent, and keeps its input', (kind, method, value) => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat({ max: 99 })), fc.constantFrom(...REVISIONS), (stream, revision) => {
        const choose = (): number => stream.next().value as number
        const input = deepFreeze(Object.fromEntries(Object.entries(value).map(([key, each]) => [key, damaged(each, choose)])))
        const before = JSON.stringify(input)
        const once = deepFreeze(lower(revision, kind, method, input))
        expect(JSON.stringify(input)).toBe(before)
        expect(lower(revision, kind, method, once)).toEqual(once)
      }),
      { numRuns: 40 },
    )
  })
})

describe('a chain of revisions', () => {
  test.each(KINDS)('the %s of %s are the same, whether downgraded at once or step by step', (kind, method, value) => {
    for (const [i, revision] of REVISIONS.entries()) {
      const stepwise = REVISIONS.slice(i)
        .toReversed()
        .reduce((current, step) => lower(step, kind, method, current), value)
      expect(stepwise, revision.version).toEqual(lower(revision, kind, method, value))
    }
  })

  test('a tool result in a conversation is downgraded wherever it is', () => {
    const audio = { role: 'user', content: { ...TOOL_RESULT, content: [AUDIO] } }
    for (const revision of REVISIONS.slice(0, 3)) {
      const [message] = revision.downgradeParams('sampling/createMessage', { messages: [audio] }).messages as Json[]
      expect(message).toEqual({ role: 'user', content: { type: 'text', text: '[result of tool call: [audio]]' } })
    }
  })
})

/** A whole message around the params, as a peer of that revision would send it. */
function messageOf(revision: Revision, method: string, params: Json): Json {
  const { kind, from } = METHODS.get(method) ?? {}
  if (revision.dialect === 'session') return { jsonrpc: '2.0', ...(kind === 'request' ? { id: 1 } : {}), method, params }
  if (kind === 'notification') return { jsonrpc: '2.0', method, params }
  // What a server asks travels inside an answer.
  if (from === 'server') return { method, params }
  const meta = { [META.protocolVersion]: revision.version, [META.clientCapabilities]: {}, [META.clientInfo]: { name: 'c', version: '1' } }
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }
}
