import fc from 'fast-check'
import { expect, test } from 'vitest'
import { envelopeOf } from '../../src/jsonrpc/envelope.ts'
import { expectLinear } from '../support/linear.ts'

test.each([
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":{}}', 'request', 7],
  ['{"params":{"id":1,"a":[{"id":2}]},"method":"x","id":"last"}', 'request', 'last'],
  [' { "i\\u0064" : -7 , "meth\\u006fd" : "x" }', 'request', -7],
  ['{"id":"a\\"b\\\\","method":"x"}', 'request', 'a"b\\'],
  ['{"method":"x","params":{"id":7}}', 'notification', undefined],
  ['{"id":7,"result":{"method":"x"}}', 'response', 7],
  ['{"error":{},"id":"e"}', 'response', 'e'],
  ['{"id":7,"method":"x","result":{}}', 'request', 7],
  ['{"id":7}', 'unknown', 7],
  ['{}', 'unknown', undefined],
  ['[{"id":7,"method":"x"}]', 'unknown', undefined],
  ['"id"', 'unknown', undefined],
  ['', 'unknown', undefined],
])('the envelope of %s is a %s with the id %s', (text, kind, id) => {
  expect(envelopeOf(text)).toEqual({ kind, id })
})

test.each(['null', '1.5', '1e3', '07', 'true', '[7]', '{"id":7}', '"\\q"', '"\t"', '9007199254740993', '99999999999999999999'])(
  'an id that is %s cannot be used',
  (id) => {
    expect(envelopeOf(`{"id":${id},"method":"x"}`)).toEqual({ kind: 'request', id: undefined })
  },
)

test('the envelope of a response with two ids has both, so that both waiting requests end', () => {
  expect(envelopeOf('{"id":1,"result":{},"id":2}')).toEqual({ kind: 'response', id: 1, otherId: 2 })
  expect(envelopeOf('{"id":1,"result":{},"id":1}')).toEqual({ kind: 'response', id: 1 })
  expect(envelopeOf('{"id":1,"result":{},"id":2,"id":3}')).toEqual({ kind: 'response', id: 1, otherId: 2 })
})

test('a request with two ids has no usable id', () => {
  expect(envelopeOf('{"id":1,"method":"x","id":2}')).toEqual({ kind: 'request', id: undefined })
})

test('truncated text is a request if its id was complete, and never a notification', () => {
  expect(envelopeOf('{"id":7,"method":"x","params":{"a":"')).toEqual({ kind: 'request', id: 7 })
  expect(envelopeOf('{"method":"x","params":[[[')).toEqual({ kind: 'unknown', id: undefined })
})

test('the envelope reader agrees with the parser about every message', () => {
  const member = fc.jsonValue({ maxDepth: 4 })
  const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(id, fc.string({ unit: 'binary' }), member, fc.nat(2), (value, method, params, place) => {
      const members = [`"method":${JSON.stringify(method)}`, `"params":${JSON.stringify(params)}`]
      members.splice(place, 0, `"id":${JSON.stringify(value)}`)
      expect(envelopeOf(`{${members.join(',')}}`)).toEqual({ kind: 'request', id: value })
    }),
  )
})

test('reading an envelope takes time in proportion to the text', () => {
  expectLinear(150_000, (size) => {
    const text = `{"params":[${Array.from({ length: size / 12 }, () => '{"abcdef":1}').join(',')}],"method":"x","id":"last"}`
    return () => expect(envelopeOf(text).id).toBe('last')
  })
  expectLinear(1_000_000, (size) => {
    const text = `{"method":"x","id":"${'i'.repeat(size)}"}`
    return () => expect(envelopeOf(text).kind).toBe('request')
  })
})
