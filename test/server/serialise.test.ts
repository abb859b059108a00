import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Exchange } from '../../src/jsonrpc/exchange.ts'
import type { Params } from '../../src/jsonrpc/message.ts'
import { revisionOf } from '../../src/revisions/index.ts'
import type { Revision } from '../../src/revisions/revision.ts'
import { Serialiser } from '../../src/server/serialise.ts'

const session = revisionOf('2025-11-25') as Revision
const stateless = revisionOf('2026-07-28') as Revision

/** What goes out as the result of a tool. */
function written(result: Params, revision: Revision): Params {
  const answers: string[] = []
  const outlet = { push: () => undefined, answer: (json: string) => void answers.push(json), drop: () => {} }
  const exchange = new Exchange({ kind: 'request', id: 1, method: 'tools/call', params: {} }, outlet, () => {})
  new Serialiser({ name: 'test', version: '1' }).answer(exchange, result, revision, false)
  const message = JSON.parse(answers.join()) as { id: number; result: Params }
  expect(message.id).toBe(1)
  return message.result
}

const textBlock = fc.record(
  { type: fc.constant('text'), text: fc.string({ unit: 'binary' }), annotations: fc.record({ priority: fc.constant(1) }) },
  { requiredKeys: ['type', 'text'] },
)
const results = fc.record(
  { content: fc.array(textBlock, { maxLength: 2 }), isError: fc.boolean(), structuredContent: fc.record({ a: fc.integer() }) },
  { requiredKeys: ['content'], noNullPrototype: true },
)

test('a result is sent unchanged, whether or not it is written by hand', () => {
  fc.assert(
    fc.property(results, (result) => {
      const plain = JSON.parse(JSON.stringify(result)) as Params
      expect(written(plain, session)).toEqual(plain)
      expect(written(plain, stateless)).toMatchObject({ ...plain, resultType: 'complete' })
    }),
  )
})

test('toJSON of an object is used', () => {
  class Secret {
    content = [{ type: 'text', text: 'secret' }]

    toJSON(): Params {
      return { content: [{ type: 'text', text: 'hidden' }] }
    }
  }
  expect(written(new Secret() as unknown as Params, session)).toEqual({ content: [{ type: 'text', text: 'hidden' }] })
})

test('a value without a JSON form is refused', () => {
  const circle: Params = { content: [] }
  circle.self = circle
  expect(() => written(circle, session)).toThrow()
  expect(() => written({ content: [], toJSON: () => undefined }, session)).toThrow('no JSON form')
})
