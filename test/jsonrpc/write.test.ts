import fc from 'fast-check'
import { expect, test } from 'vitest'
import { read } from '../../src/jsonrpc/read.ts'
import { errorJson, notificationJson, requestJson, resultJson, writtenResultJson } from '../../src/jsonrpc/write.ts'
import { proves } from '../support/proves.ts'

const BOUNDS = { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000, maxBatch: 50 }
const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'binary' }))
// Keys that reach a prototype are refused by who reads them.
const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !JSON.stringify(value).includes('proto'))
const text = fc.string({ unit: 'binary' })
const params = fc.option(
  fc.dictionary(
    fc.string({ unit: 'grapheme' }).map((key) => `k${key}`),
    json,
  ),
  { nil: undefined },
)
const again = <T>(value: T): T => (value === undefined ? value : JSON.parse(JSON.stringify(value)))

test('every message says "jsonrpc": "2.0"', () => {
  proves('T-BASE-008')
  const written = [requestJson(1, 'x', undefined), notificationJson('x', {}), resultJson(1, {}), errorJson(1, { code: 1, message: 'no' })]
  for (const message of written) expect(JSON.parse(message)).toHaveProperty('jsonrpc', '2.0')
})

test('a request is read as it was written, with the same type of id', () => {
  proves('T-BASE-011', 'T-BASE-013')
  fc.assert(
    fc.property(id, text, params, (anId, method, some) => {
      const written = requestJson(anId, method, some)
      expect(read(written, BOUNDS)).toEqual({ kind: 'request', id: anId, method, params: again(some) })
    }),
  )
})

test('a notification is read as it was written and has no id', () => {
  proves('T-BASE-026', 'T-BASE-029')
  fc.assert(
    fc.property(text, params, (method, some) => {
      const written = notificationJson(method, some)
      expect(JSON.parse(written)).not.toHaveProperty('id')
      expect(read(written, BOUNDS)).toEqual({ kind: 'notification', method, params: again(some) })
    }),
  )
})

test('a result is read as it was written', () => {
  proves('T-BASE-016', 'T-BASE-025', 'R-BASE-006')
  fc.assert(
    fc.property(id, params, (anId, some = {}) => {
      const expected = { kind: 'result', id: anId, result: again(some) }
      expect(read(resultJson(anId, some), BOUNDS)).toEqual(expected)
      expect(read(writtenResultJson(anId, JSON.stringify(some)), BOUNDS)).toEqual(expected)
    }),
  )
})

test('an error is read as it was written, with its data unchanged', () => {
  proves('T-BASE-021', 'T-BASE-023', 'R-BASE-006', 'R-BASE-055')
  fc.assert(
    fc.property(id, fc.integer(), text, json, (anId, code, message, data) => {
      expect(read(errorJson(anId, { code, message, data }), BOUNDS)).toEqual({
        kind: 'error',
        id: anId,
        error: { code, message, data: again(data) },
      })
    }),
  )
})

test('the error for an unreadable id has null as its id, or none', () => {
  const error = { code: -32700, message: 'no' }
  expect(JSON.parse(errorJson(null, error))).toEqual({ jsonrpc: '2.0', id: null, error })
  expect(JSON.parse(errorJson(undefined, error))).toEqual({ jsonrpc: '2.0', error })
})

test('a written message is always one line', () => {
  proves('T-STDIO-005')
  const lines = 'a\nb\r\nc\u2028d\u0085'
  const written = [
    requestJson(lines, lines, { [lines]: lines }),
    notificationJson(lines, { lines }),
    resultJson(lines, { lines }),
    errorJson(lines, { code: 1, message: lines, data: lines }),
  ]
  for (const message of written) expect(message).not.toMatch(/[\n\r]/)
})

test('a value without a JSON form is not written', () => {
  expect(() => resultJson(1, { toJSON: () => undefined })).toThrow('no JSON form')
  expect(() => requestJson(1, 'x', { toJSON: () => undefined })).toThrow('no JSON form')
})

test('a number that JSON cannot express is an error anywhere, and null is accepted', () => {
  const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const number of bad) {
    const holders: [Record<string, unknown>, string][] = [
      [{ a: number }, 'a'],
      [{ a: [null, { b: number }] }, 'a.1.b'],
      [{ a: { toJSON: () => ({ c: number }) } }, 'a.c'],
    ]
    for (const [holder, where] of holders) {
      const message = `JSON cannot represent the number ${number} at ${where}`
      expect(() => requestJson(1, 'x', holder)).toThrow(message)
      expect(() => resultJson(1, holder)).toThrow(message)
      expect(() => notificationJson('x', holder)).toThrow(message)
    }
  }
  expect(resultJson(1, { a: null, b: 'null', c: [undefined] })).toBe('{"jsonrpc":"2.0","id":1,"result":{"a":null,"b":"null","c":[null]}}')
})

test('an error is sent even when its data cannot be written', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  for (const data of [1n, circle])
    expect(JSON.parse(errorJson(7, { code: -32603, message: 'broken', data }))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32603, message: 'broken' },
    })
})
