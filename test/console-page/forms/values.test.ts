/** Changes of a form's value, its JSON text, and its issues. */

import { expect, test } from 'vitest'
import { isTooMuch, newForm, withMode, withRaw } from '../../../console/src/forms/model/raw.ts'
import { isSame, typedNumber, withItem, withMember, withRenamed, withSwapped } from '../../../console/src/forms/model/value.ts'
import { createValidator } from '../../../console/src/forms/validate.ts'

test.each([
  ['12', 12],
  ['-1.5', -1.5],
  ['1e3', 1000],
  ['', undefined],
  ['12x', '12x'],
  ['0x10', '0x10'],
  ['9007199254740993', '9007199254740993'],
  ['1e999', '1e999'],
])('the typed number %j becomes %j', (text, value) => {
  expect(typedNumber(text)).toBe(value)
})

test('members and rows are set, removed, renamed and swapped in copies', () => {
  const object = { a: 1, b: 2 }
  expect(withMember(object, 'a', undefined)).toEqual({ b: 2 })
  expect(Object.keys(withRenamed(object, 'a', 'z'))).toEqual(['z', 'b'])
  expect(withItem([1, 2], 1, undefined)).toEqual([1, null])
  expect(withSwapped([1, 2], 0, 1)).toEqual([2, 1])
  expect(object).toEqual({ a: 1, b: 2 })
  expect(isSame({ a: [1] }, { a: [1] })).toBe(true)
})

test('the JSON text keeps what was typed, and the way back is closed while it is no JSON', () => {
  const raw = withMode(newForm({ a: 1 }), 'raw')
  expect(raw.raw).toBe('{\n  "a": 1\n}')
  const broken = withRaw(raw, '{ "a": ')
  expect(broken).toMatchObject({ value: { a: 1 }, raw: '{ "a": ', rawFault: expect.stringContaining('not JSON') })
  expect(withMode(broken, 'form')).toBe(broken)
  expect(withMode(withRaw(broken, '{"a":2}'), 'form')).toMatchObject({ value: { a: 2 }, mode: 'form' })
})

test('a value with too many parts is JSON, and there is no way to fields until it has fewer', () => {
  const much = { list: Array.from({ length: 2_000 }, (_, index) => index) }
  const form = newForm(much)
  expect(form).toMatchObject({ mode: 'raw', raw: expect.stringContaining('1999') })
  expect(withMode(form, 'form')).toBe(form)
  expect(withMode(withRaw(form, '{"list":[1]}'), 'form').mode).toBe('form')
  expect(isTooMuch({ a: 'x'.repeat(10_000) })).toBe(false)
})

test('issues belong to their fields, and a missing member to its own field', async () => {
  const { check } = await createValidator({
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'object', required: ['c "d"'] } },
    required: ['a', 'b'],
  })
  expect(check({})).toEqual(
    new Map([
      ['["a"]', 'This is required'],
      ['["b"]', 'This is required'],
    ]),
  )
  expect(check({ a: 'x', b: {} })).toEqual(
    new Map([
      ['["a"]', expect.stringContaining('expected')],
      [JSON.stringify(['b', 'c "d"']), 'This is required'],
    ]),
  )
  expect(check({ a: 1, b: { 'c "d"': 1 } }).size).toBe(0)
})

test('a schema that cannot be used is named, and nothing is checked', async () => {
  const { check, fault } = await createValidator({ $ref: 'https://elsewhere.example/schema' })
  expect(fault).toBeTruthy()
  expect(check({}).size).toBe(0)
})

test('a regular expression that would take forever does not', async () => {
  const { check } = await createValidator({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
  const start = performance.now()
  expect(check({ a: `${'a'.repeat(5_000)}!` }).size).toBe(1)
  expect(performance.now() - start).toBeLessThan(2_000)
})
