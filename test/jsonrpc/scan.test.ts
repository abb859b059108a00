import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_READ_BOUNDS, read } from '../../src/jsonrpc/read.ts'
import { type ScanBounds, scan } from '../../src/jsonrpc/scan.ts'
import { cpuClock, expectLinear } from '../support/linear.ts'

const BOUNDS: ScanBounds = { maxDepth: 64, maxKeys: 10_000, maxValues: 100_000 }

const request = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const object = (keys: number): string => `{${Array.from({ length: keys }, (_, i) => `"k${i}":0`).join(',')}}`

describe('depth', () => {
  test.each([
    [63, undefined],
    [64, undefined],
    [65, -32600],
  ])('a depth of %i levels with a limit of 64 gives %s', (levels, code) => {
    expect(scan(nested(levels), BOUNDS)?.code).toBe(code)
    expect(scan('{"a":'.repeat(levels), BOUNDS)?.code).toBe(code)
    expect(scan(request(nested(levels - 1)), BOUNDS)?.code).toBe(code)
  })

  test('depth counts levels, not brackets', () => {
    expect(scan(`[${'[],{},'.repeat(1000)}[]]`, { maxDepth: 2, maxKeys: 10, maxValues: 100_000 })).toBeUndefined()
  })

  test('depth does not count brackets inside strings', () => {
    expect(
      scan(JSON.stringify({ a: '[{'.repeat(100), '[[["{': '\\"[[[[' }), { maxDepth: 1, maxKeys: 2, maxValues: 100_000 }),
    ).toBeUndefined()
  })

  test('too much depth is reported with the name of the limit', () => {
    expect(scan(nested(65), BOUNDS)?.message).toBe('The message nests deeper than 64 levels (maxDepth)')
  })
})

describe('keys of one object', () => {
  test.each([
    [9_999, undefined],
    [10_000, undefined],
    [10_001, -32600],
  ])('%i keys in one object with a limit of 10,000 give %s', (count, code) => {
    expect(scan(object(count), BOUNDS)?.code).toBe(code)
    expect(scan(request(`{"arguments":${object(count)}}`), BOUNDS)?.code).toBe(code)
  })

  test('keys are counted for each object separately', () => {
    expect(
      scan(`[${object(3)},${object(3)},{"a":${object(3)},"b":${object(3)}}]`, { maxDepth: 9, maxKeys: 3, maxValues: 100_000 }),
    ).toBeUndefined()
    expect(scan(`{"a":${object(3)},"b":1,"c":2,"d":3}`, { maxDepth: 9, maxKeys: 3, maxValues: 100_000 })?.message).toBe(
      'An object has more than 3 keys (maxKeys)',
    )
  })

  test('items of an array do not count as keys', () => {
    expect(scan(JSON.stringify(Array.from({ length: 50 }, () => 'item')), { maxDepth: 9, maxKeys: 3, maxValues: 100_000 })).toBeUndefined()
  })
})

describe('the values of a message', () => {
  const small: ScanBounds = { maxDepth: 9, maxKeys: 100, maxValues: 10 }
  const tooMany = { code: -32600, message: 'The message contains more than 10 values (maxValues)' }

  test.each([
    ['numbers', (count: number) => JSON.stringify(Array(count).fill(1))],
    ['strings', (count: number) => JSON.stringify(Array(count).fill('a,[{'))],
    ['members', (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, null])))],
    ['empty arrays, each counted as two', (count: number) => `[${'1,'.repeat(count % 2)}${Array(Math.floor(count / 2)).fill('[]')}]`],
    ['empty objects, each counted as two', (count: number) => `[${'1,'.repeat(count % 2)}${Array(Math.floor(count / 2)).fill('{}')}]`],
    ['objects in objects', (count: number) => `{"a":{"b":1,"c":2},"d":${JSON.stringify(Array(count - 4).fill(1))}}`],
  ])('values of a message (%s) pass up to the limit, and one more is refused', (_, make) => {
    for (const count of [9, 10]) expect(scan(make(count), small)).toBeUndefined()
    expect(scan(make(11), small)).toEqual(tooMany)
  })

  test('the number of values is available for the last message', () => {
    const tally = { values: 0 }
    scan('[1,2,3]', small, 0, 7, tally)
    expect(tally.values).toBe(3)
    scan('{"a":[]}', small, 0, 8, tally)
    expect(tally.values).toBe(2)
  })

  test('one value more than 100,000 makes a request malformed, with its id', () => {
    const call = (count: number): string => `{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":[${Array(count).fill(1)}]}}`
    // The members of the message and of params count too.
    expect(read(call(100_000 - 5), DEFAULT_READ_BOUNDS).kind).toBe('request')
    expect(read(call(100_000 - 4), DEFAULT_READ_BOUNDS)).toMatchObject({
      kind: 'malformed',
      id: 7,
      error: { message: 'The message contains more than 100000 values (maxValues)' },
    })
  })
})

describe('a key given twice', () => {
  test.each(['id', 'params', 'method', 'jsonrpc', 'result', 'error'])(
    'a key given twice is refused when it is %s of the message',
    (key) => {
      expect(scan(`{"${key}":1,"x":{"${key}":1},"${key}":1}`, BOUNDS)).toEqual({ code: -32600, message: `The key "${key}" occurs twice` })
    },
  )

  test.each(['name', 'uri', 'arguments', '_meta', 'requestState', 'inputResponses', 'taskId'])(
    'a key given twice is refused when it is %s of params',
    (key) => {
      expect(scan(request(`{"${key}":1,"other":{"${key}":1},"${key}":1}`), BOUNDS)).toEqual({
        code: -32600,
        message: `The key "${key}" occurs twice in params`,
      })
    },
  )

  test('a repeated key is found behind escapes', () => {
    expect(scan('{"method":"a","\\u006dethod":"b"}', BOUNDS)?.code).toBe(-32600)
    expect(scan('{"\\u006D\\u0065thod":"a","method":"b"}', BOUNDS)?.code).toBe(-32600)
    expect(scan(request('{"name":"a","nam\\u0065":"b"}'), BOUNDS)?.code).toBe(-32600)
  })

  test('a repeated key is found in every message of a batch, and not across messages', () => {
    const one = request('{"name":"a"}')
    expect(scan(`[${one},${one}]`, BOUNDS)).toBeUndefined()
    expect(scan(`[${one},{"id":1,"id":2}]`, BOUNDS)?.code).toBe(-32600)
    expect(scan(`[${one},${request('{"name":"a","name":"b"}')}]`, BOUNDS)?.code).toBe(-32600)
  })

  test('a repeated key elsewhere in a message is accepted', () => {
    expect(scan(request('{"arguments":{"id":1,"id":2,"name":1,"name":2},"a":1,"a":2}'), BOUNDS)).toBeUndefined()
    expect(scan('{"result":{"name":1,"name":2},"x":1,"x":2}', BOUNDS)).toBeUndefined()
  })
})

describe('a key that reaches a prototype', () => {
  const places: [string, (json: string) => string][] = [
    ['the message', (json) => json],
    ['params', request],
    ['arguments', (json) => request(`{"name":"x","arguments":${json}}`)],
    ['metadata', (json) => request(`{"_meta":${json}}`)],
    ['the depth of a result', (json) => `{"id":1,"result":{"a":[1,{"b":[${json}]}]}}`],
    ['a batch', (json) => `[${json}]`],
  ]

  test.each(places)('a key that reaches a prototype is refused in %s', (_where, inside) => {
    for (const key of ['__proto__', '\\u005f_proto__', '__proto_\\u005F', '\\u005f\\u005fproto\\u005f\\u005f']) {
      expect(scan(inside(`{"${key}":{"polluted":1}}`), BOUNDS)?.code, key).toBe(-32602)
      expect(scan(inside(`{"a":1, "${key}" : null}`), BOUNDS)?.code, key).toBe(-32602)
    }
    for (const [outer, inner] of [
      ['constructor', 'prototype'],
      ['\\u0063onstructor', 'prototyp\\u0065'],
    ]) {
      expect(scan(inside(`{"${outer}":{"${inner}":{"polluted":1}}}`), BOUNDS)?.code).toBe(-32602)
      expect(scan(inside(`{"${outer}" : { "a":[{}], "${inner}":1}}`), BOUNDS)?.code).toBe(-32602)
    }
  })

  test('a key that reaches a prototype is refused wherever it stands in any JSON', () => {
    const json = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(json, json, (before, after) => {
        const text = `{"a":${JSON.stringify(before)},"b":[{"c":${JSON.stringify(after)},"__proto__":1}]}`
        expect(scan(text, BOUNDS)?.code).toBe(-32602)
      }),
    )
  })

  test('a key that only looks like a prototype key is accepted', () => {
    const harmless = { constructor: 'x', prototype: { a: 1 }, a: '__proto__', b: ['__proto__'], proto: 1, __proto: 2, x__proto__: 3 }
    expect(scan(request(JSON.stringify(harmless)), BOUNDS)).toBeUndefined()
    expect(scan(request('{"constructor":{"a":{"prototype":1}},"b":{"prototype":1}}'), BOUNDS)).toBeUndefined()
    expect(scan(request('{"constructor":1,"b":{"prototype":1}}'), BOUNDS)).toBeUndefined()
    expect(scan(request('[{"constructor":null},{"prototype":1}]'), BOUNDS)).toBeUndefined()
  })
})

test('any JSON without a flaw passes the scan', () => {
  const name = fc.string({ unit: 'grapheme', maxLength: 8 }).map((key) => `k${key}`)
  const clean = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.string({ unit: 'binary' }), fc.double(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 5 }),
    object: fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  })).value
  fc.assert(
    fc.property(clean, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      expect(scan(JSON.stringify(value, null, space), BOUNDS)).toBeUndefined()
    }),
  )
})

test('text that is not JSON is left to the parser, and the scan never throws', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'a', ' ', '1') }),
      (text) => void scan(text, BOUNDS),
    ),
  )
  for (const text of ['', '"', '"\\', '}{', '{"a', ',', '{,,,}', ']]]', '{]}[']) expect(scan(text, BOUNDS)).toBeUndefined()
})

describe('the time taken grows no faster than the text', () => {
  const repeat = (part: string) => (size: number) => {
    const text = `[${Array.from({ length: size / part.length }, () => part).join(',')}]`
    return () => expect(scan(text, { ...BOUNDS, maxValues: Number.POSITIVE_INFINITY })).toBeUndefined()
  }

  test.each([
    ['small objects', '{"abcdef":1}'],
    ['keys with escapes', '{"\\u0061bcdef":1}'],
    ['strings full of backslashes', `"${'\\\\'.repeat(50)}"`],
    ['strings full of quotes', `"${'\\"'.repeat(50)}"`],
    ['numbers', '1234567890'],
  ])('scanning a text of %s takes linear time', (_what, part) => expectLinear(100_000, repeat(part)))

  test('scanning a text of one long string takes linear time', () =>
    expectLinear(2_000_000, (size) => {
      const text = JSON.stringify({ a: 'x\\'.repeat(size / 3) })
      return () => expect(scan(text, BOUNDS)).toBeUndefined()
    }))

  test('scanning a text of one long key takes linear time', () =>
    expectLinear(1_000_000, (size) => {
      const text = `{"${'k'.repeat(size)}":1}`
      return () => expect(scan(text, BOUNDS)).toBeUndefined()
    }))

  test('a text that is too deep is refused without reading the rest of it', () => {
    const text = '['.repeat(4_000_000)
    const passed = cpuClock()
    expect(scan(text, BOUNDS)?.code).toBe(-32600)
    expect(passed()).toBeLessThan(20)
  })
})
