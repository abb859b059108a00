import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { classify, malformed, type ReadBounds, read } from '../../src/jsonrpc/read.ts'
import { cpuMs, expectLinear } from '../support/linear.ts'
import { MALFORMED } from '../support/malformed.ts'
import { proves } from '../support/proves.ts'

const BOUNDS: ReadBounds = { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000, maxBatch: 50 }
const of = (message: unknown) => read(JSON.stringify(message), BOUNDS)

describe('each message is of exactly one kind', () => {
  beforeEach(() => proves('T-BASE-009'))

  test('a request has an id and a method, and may have params', () => {
    proves('T-BASE-011')
    expect(of({ jsonrpc: '2.0', id: 1, method: 'x', params: { a: 1 } })).toEqual({ kind: 'request', id: 1, method: 'x', params: { a: 1 } })
    expect(of({ jsonrpc: '2.0', id: 'one', method: 'x' })).toEqual({ kind: 'request', id: 'one', method: 'x', params: undefined })
  })

  test('a notification has a method and no id, and may have params', () => {
    proves('T-BASE-026')
    expect(of({ jsonrpc: '2.0', method: 'x', params: {} })).toEqual({ kind: 'notification', method: 'x', params: {} })
    expect(of({ jsonrpc: '2.0', method: 'x' })).toEqual({ kind: 'notification', method: 'x', params: undefined })
  })

  test('a response has an id and a result or an error', () => {
    proves('T-BASE-016', 'T-BASE-025')
    expect(of({ jsonrpc: '2.0', id: 1, result: { a: 1 } })).toEqual({ kind: 'result', id: 1, result: { a: 1 } })
    const error = { code: -32000, message: 'no', data: [1, { a: null }] }
    expect(of({ jsonrpc: '2.0', id: 1, error })).toEqual({ kind: 'error', id: 1, error })
    expect(of({ jsonrpc: '2.0', id: null, error })).toEqual({ kind: 'error', id: undefined, error })
    expect(of({ jsonrpc: '2.0', error })).toEqual({ kind: 'error', id: undefined, error })
  })

  test('unknown members change nothing', () => {
    proves('T-BASE-038')
    const params = { name: 'x', 'com.example/extra': [1] }
    expect(of({ jsonrpc: '2.0', id: 1, method: 'x', params, extra: true })).toEqual({ kind: 'request', id: 1, method: 'x', params })
    expect(of({ jsonrpc: '2.0', id: 1, result: params, extra: true })).toEqual({ kind: 'result', id: 1, result: params })
  })
})

describe('a request', () => {
  test.each([undefined, '1.0', '2', 2, null, true, ['2.0'], ' 2.0'])(
    'a request whose "jsonrpc" is %j is refused with its id',
    (jsonrpc) => {
      proves('T-BASE-008')
      expect(of({ jsonrpc, id: 7, method: 'x' })).toMatchObject({ kind: 'malformed', id: 7, error: { code: -32600 }, isRequest: true })
    },
  )

  test.each([1.5, true, false, [], {}, 2 ** 53])('a request whose id is %j is refused without an id', (id) => {
    proves('T-BASE-013')
    expect(of({ jsonrpc: '2.0', id, method: 'x' })).toMatchObject({ kind: 'malformed', id: undefined, error: { code: -32600 } })
  })

  test('a request whose id is null is refused', () => {
    proves('T-BASE-014')
    expect(of({ jsonrpc: '2.0', id: null, method: 'x' })).toMatchObject({
      kind: 'malformed',
      id: undefined,
      error: { code: -32600, message: '"id" must be a string or an integer, not null' },
    })
  })

  test('a request may have any string and any integer as its id', () => {
    proves('T-BASE-013')
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger()), (id) => {
        expect(of({ jsonrpc: '2.0', id, method: 'x' })).toMatchObject({ kind: 'request', id })
      }),
    )
  })

  test.each([null, 1, true, [], {}])('a request whose method is %j is refused with its id', (method) => {
    expect(of({ jsonrpc: '2.0', id: 7, method })).toMatchObject({ kind: 'malformed', id: 7, error: { code: -32600 } })
  })

  test.each([
    [null, -32600],
    ['x', -32600],
    [7, -32600],
    [true, -32600],
    [[], -32602],
    [[1], -32602],
  ])('a request whose params are %j is refused with %i and its id', (params, code) => {
    expect(of({ jsonrpc: '2.0', id: 7, method: 'x', params })).toMatchObject({ kind: 'malformed', id: 7, error: { code } })
  })

  test('a request with its members in other letter case is refused', () => {
    proves('T-BASE-031')
    expect(of({ jsonrpc: '2.0', id: 7, Method: 'x' })).toMatchObject({
      kind: 'malformed',
      id: 7,
      error: { code: -32600 },
      isRequest: false,
    })
  })
})

describe('a malformed notification is not answered', () => {
  beforeEach(() => proves('T-BASE-028'))

  test.each([
    { jsonrpc: '1.0', method: 'x' },
    { method: 'x' },
    { jsonrpc: '2.0', method: 'x', params: null },
    { jsonrpc: '2.0', method: 'x', params: [] },
    { jsonrpc: '2.0', method: 'x', params: 'y' },
  ])('the malformed notification %j is not answered', (message) => expect(of(message)).toMatchObject({ kind: 'ignored' }))

  test.each([
    '{"jsonrpc":"2.0","method":"x","params":{"__proto__":1}}',
    '{"jsonrpc":"2.0","method":"x","method":"x"}',
    `{"jsonrpc":"2.0","method":"x","params":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`,
  ])('a malformed notification that is refused unparsed is not answered', (text) =>
    expect(read(text, BOUNDS)).toMatchObject({ kind: 'ignored', id: undefined }),
  )
})

describe('an unusable response is never answered, and ends its request', () => {
  test('an error may come without an id, or with null for it; a result may not', () => {
    proves('R-BASE-004')
    const error = { code: -32700, message: 'no' }
    for (const id of [undefined, null]) {
      expect(of({ jsonrpc: '2.0', id, error })).toEqual({ kind: 'error', id: undefined, error })
      expect(of({ jsonrpc: '2.0', id, result: {} })).toMatchObject({ kind: 'ignored' })
    }
    expect(of({ jsonrpc: '2.0', id: 7, error })).toEqual({ kind: 'error', id: 7, error })
    expect(of({ jsonrpc: '2.0', id: 7, result: {} })).toEqual({ kind: 'result', id: 7, result: {} })
  })

  test('a response without a result and an error is malformed', () => {
    proves('T-BASE-018', 'R-BASE-006')
    expect(of({ jsonrpc: '2.0', id: 1 })).toMatchObject({ kind: 'malformed', error: { code: -32600 }, isRequest: false })
  })

  test('a response with both a result and an error is ignored and ends its request', () => {
    proves('T-BASE-019')
    expect(of({ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'no' } })).toMatchObject({ kind: 'ignored', id: 1 })
  })

  test.each([{ code: 1 }, { message: 'no' }, 'no', null, [], {}])(
    'a response with the error %j is ignored and ends its request',
    (error) => {
      proves('T-BASE-021', 'R-BASE-006')
      expect(of({ jsonrpc: '2.0', id: 1, error })).toMatchObject({ kind: 'ignored', id: 1 })
    },
  )

  test.each([1.5, '1', null])('a response with the error code %j is ignored and ends its request', (code) => {
    proves('T-BASE-022')
    expect(of({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } })).toMatchObject({ kind: 'ignored', id: 1 })
  })

  test.each(['done', 1, true, null, []])('a response with the result %j is ignored and ends its request', (result) => {
    expect(of({ jsonrpc: '2.0', id: 1, result })).toMatchObject({ kind: 'ignored', id: 1 })
  })

  test.each([null, 1.5, undefined, {}])('a response with a result and the id %j is not answered', (id) => {
    expect(of({ jsonrpc: '2.0', id, result: {} })).toEqual({ kind: 'ignored', reason: 'a result without a usable id' })
  })

  test('a response that is refused unparsed is ignored and ends its request', () => {
    expect(read('{"jsonrpc":"2.0","result":{"__proto__":1},"id":"q"}', BOUNDS)).toMatchObject({ kind: 'ignored', id: 'q' })
  })

  test('a response without "jsonrpc": "2.0" is ignored and ends its request', () => {
    const reason = 'a response without "jsonrpc": "2.0"'
    expect(of({ id: 1, result: {} })).toEqual({ kind: 'ignored', reason, id: 1 })
    expect(of({ jsonrpc: '1.0', id: 1, error: { code: -32601, message: 'no' } })).toEqual({ kind: 'ignored', reason, id: 1 })
  })

  test.each([{ error: 'boom' }, { error: { name: 'Error' } }, { result: 'ok' }, { result: null, error: null }])(
    'without "jsonrpc": "2.0" the members %j are a log line and end no request',
    (members) => {
      const message = of({ id: 1, level: 'error', ...members })
      expect(message.kind === 'ignored' && message.id).toBeUndefined()
    },
  )

  test.each(['NaN', 'Infinity', "'single'", '{"a":1,}', 'undefined', '"open'])(
    'a response whose result is %s, which is not JSON, ends its request',
    (result) => {
      expect(read(`{"jsonrpc":"2.0","id":1,"result":{"value":${result}}}`, BOUNDS)).toMatchObject({ kind: 'ignored', id: 1 })
      expect(read(`{"id":1,"result":{"value":${result}}}`, BOUNDS)).toMatchObject({ kind: 'malformed', error: { code: -32700 } })
      expect(read(`{"jsonrpc":"2.0","id":1,"method":"x","params":${result}}`, BOUNDS)).toMatchObject({ kind: 'malformed', id: undefined })
    },
  )

  test('a response with two ids ends both requests', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"id":1,"result":{}}', BOUNDS)).toEqual({
      kind: 'ignored',
      reason: 'The key "id" occurs twice',
      id: 1,
    })
    expect(read('{"jsonrpc":"2.0","id":1,"result":{},"id":2}', BOUNDS)).toMatchObject({ kind: 'ignored', id: 1, otherId: 2 })
    expect(read('{"jsonrpc":"2.0","id":null,"result":{},"id":2}', BOUNDS)).toMatchObject({ kind: 'ignored', otherId: 2 })
  })

  test('a value in place of an error is shown, cut to a short length', () => {
    expect(of({ jsonrpc: '2.0', id: 1, error: 'unknown method' })).toEqual({
      kind: 'ignored',
      reason: 'an error without an integer code and a message: "unknown method"',
      id: 1,
    })
    const long = of({ jsonrpc: '2.0', id: 1, error: { code: 'E', message: 'x'.repeat(10_000) } })
    expect(long).toMatchObject({ kind: 'ignored', reason: expect.stringMatching(/^.{1,260}\.\.\.$/) })
  })
})

describe('a member that is null counts as absent', () => {
  test('an error that is null beside a result counts as absent', () => {
    expect(of({ jsonrpc: '2.0', id: 1, result: { a: 1 }, error: null })).toEqual({ kind: 'result', id: 1, result: { a: 1 } })
  })

  test('a result that is null beside an error counts as absent', () => {
    const error = { code: -32601, message: 'no' }
    expect(of({ jsonrpc: '2.0', id: 1, result: null, error })).toEqual({ kind: 'error', id: 1, error })
  })

  test('a result or an error that is null does not count as absent when it stands alone', () => {
    expect(of({ jsonrpc: '2.0', id: 1, result: null, error: null })).toMatchObject({ kind: 'ignored', id: 1 })
    expect(of({ jsonrpc: '2.0', id: 1, error: null })).toMatchObject({ kind: 'ignored', id: 1 })
  })
})

describe('text of a peer in an error', () => {
  test('text of a peer in an error is quoted up to 20 characters, and described by its type beyond', () => {
    const faultOf = (jsonrpc: string) => {
      const message = of({ jsonrpc, id: 1, method: 'x' })
      return message.kind === 'malformed' ? message.error.message : message
    }
    expect(faultOf('x'.repeat(20))).toBe(`"jsonrpc" must be "2.0", not "${'x'.repeat(20)}"`)
    expect(faultOf('x'.repeat(21))).toBe('"jsonrpc" must be "2.0", not a string')
  })
})

describe('a batch', () => {
  test('a batch is read message by message', () => {
    const message = read('[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"y"},5]', BOUNDS)
    expect(message).toMatchObject({
      kind: 'batch',
      messages: [{ kind: 'request', id: 1 }, { kind: 'notification' }, { kind: 'malformed' }],
    })
  })

  test('a batch that is empty is refused', () => {
    expect(read('[]', BOUNDS)).toMatchObject({ kind: 'malformed', id: undefined, error: { code: -32600 } })
  })

  test.each([
    [49, 'batch'],
    [50, 'batch'],
    [51, 'malformed'],
  ])('a batch of %i messages with a limit of 50 is a %s', (count, kind) => {
    expect(of(Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'x' }))).kind).toBe(kind)
  })

  test('a batch over its limit is refused with the name of the limit', () => {
    expect(of(Array.from({ length: 51 }, () => 1))).toMatchObject({
      error: { code: -32600, message: 'The batch contains 51 messages; at most 50 are accepted (maxBatch)' },
    })
  })
})

test('text that is not JSON is a parse error without an id', () => {
  proves('T-BASE-030')
  expect(read('{"jsonrpc":"2.0","id":7,"method":"x"', BOUNDS)).toEqual(malformed(undefined, -32700, 'The message is not valid JSON'))
})

test('a flaw found before parsing is reported with the id, wherever the id stands', () => {
  for (const text of ['{"id":7,"method":"x","params":{"__proto__":1}}', '{"method":"x","params":{"__proto__":1},"id":7}'])
    expect(read(text, BOUNDS)).toMatchObject({ kind: 'malformed', id: 7, error: { code: -32602 }, isRequest: true })
})

test('a key that reaches a prototype pollutes nothing', () => {
  read('{"jsonrpc":"2.0","id":7,"method":"x","params":{"__proto__":{"polluted":1}}}', BOUNDS)
  read('{"jsonrpc":"2.0","id":7,"method":"x","params":{"constructor":{"prototype":{"polluted":1}}}}', BOUNDS)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test('an error message is one short sentence for every input', () => {
  proves('T-BASE-024')
  const messages = MALFORMED.flatMap(({ text }) => {
    const message = read(text ?? '', BOUNDS)
    return message.kind === 'malformed' ? [message.error.message] : []
  })
  expect(messages.length).toBeGreaterThan(65)
  for (const message of messages) expect(message).toMatch(/^[^\n]{1,120}$/)
})

test('reading never throws for any input', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void read(text, BOUNDS)))
  fc.assert(fc.property(fc.jsonValue(), (value) => void read(JSON.stringify(value), BOUNDS)))
  fc.assert(fc.property(fc.anything(), (value) => void classify(value)))
})

describe('the time taken grows no faster than the message', () => {
  test('reading a valid message takes linear time', () =>
    expectLinear(150_000, (size) => {
      const text = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'x',
        params: { a: Array.from({ length: size / 12 }, () => ({ abcdef: 1 })) },
      })
      return () => expect(read(text, { ...BOUNDS, maxValues: Number.POSITIVE_INFINITY }).kind).toBe('request')
    }))

  test('reading a refused message takes linear time', () =>
    expectLinear(150_000, (size) => {
      const items = Array.from({ length: size / 12 }, () => '{"abcdef":1}').join(',')
      const text = `{"jsonrpc":"2.0","method":"x","params":{"a":[${items}],"__proto__":1},"id":1}`
      return () => expect(read(text, BOUNDS)).toMatchObject({ kind: 'malformed', id: 1 })
    }))

  test('a message of 65 levels is refused within 2 ms', () => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`
    for (let i = 0; i < 100; i++) read(text, BOUNDS)
    expect(cpuMs(() => expect(read(text, BOUNDS)).toMatchObject({ id: 1, error: { code: -32600 } }))).toBeLessThan(2)
  })
})
