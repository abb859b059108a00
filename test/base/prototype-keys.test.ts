import { describe, expect, test } from 'vitest'
import { prototypeKeyIn } from '../../src/base/prototype-keys.ts'
import { redact } from '../../src/base/text/redact.ts'

describe('keys that reach a prototype', () => {
  test.each([
    ['{"__proto__": {"a": 1}}', '/__proto__'],
    ['{"a": [1, {"b/c": {"__proto__": null}}]}', '/a/1/b~1c/__proto__'],
    ['{"constructor": {"prototype": 1}}', '/constructor/prototype'],
  ])('keys that reach a prototype are found in %s', (text, pointer) => {
    expect(prototypeKeyIn(JSON.parse(text))).toBe(pointer)
  })

  test.each(['{"constructor": "x", "prototype": "y"}', '{"a": "__proto__"}', '{"constructor": [{"prototype": 1}]}', '[]', 'null', '5'])(
    'keys that reach a prototype are not found in %s',
    (text) => {
      expect(prototypeKeyIn(JSON.parse(text))).toBeUndefined()
    },
  )

  test('keys that reach a prototype are found at any depth without running out of stack', () => {
    const depth = 100_000
    let value: unknown = JSON.parse('{"__proto__": 1}')
    for (let i = 0; i < depth; i++) value = [value]
    expect(prototypeKeyIn(value)).toBe(`${'/0'.repeat(depth)}/__proto__`)
  })
})

test('redaction keeps every key of a value, including __proto__ and constructor', () => {
  const text = '{"__proto__":{"run":"x"},"constructor":"y","toString":{"__proto__":[1]}}'
  expect(JSON.stringify(redact(JSON.parse(text)))).toBe(text)
})
