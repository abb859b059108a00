import { expect, test } from 'vitest'
import { mergeOptions, withDefaults } from '../../src/protocol/with-defaults.ts'
import { fileTaskStore } from '../../src/tasks/index.ts'

const DEFAULTS = { max: 4, host: '127.0.0.1' }

test('an undefined option has its default', () => {
  expect(mergeOptions(DEFAULTS, { max: undefined, host: 'a', more: true })).toEqual({ max: 4, host: 'a', more: true })
  expect(withDefaults(DEFAULTS, { max: undefined, host: 'a' })).toEqual({ max: 4, host: 'a' })
  expect(withDefaults(DEFAULTS, undefined)).toEqual(DEFAULTS)
})

test('an option that is not a number is an error that names it', () => {
  expect(() => withDefaults(DEFAULTS, { max: Number('ten') })).toThrow('The option max is not a number')
})

test('a limit without a default is an error that names it', () => {
  expect(() => withDefaults(DEFAULTS, { more: true })).toThrow('limits: unknown member "more"; expected one of max, host')
})

test('a prototype key changes no prototype', () => {
  const given = JSON.parse('{"__proto__":{"max":9}}') as object
  const made = mergeOptions(DEFAULTS, given)
  expect([Object.getPrototypeOf(made), made.max]).toEqual([Object.prototype, 4])
  expect(() => withDefaults(DEFAULTS, given)).toThrow('unknown member "__proto__"')
})

test.each([
  [{}, '{}'],
  [5, '5'],
  [true, 'true'],
  [null, 'null'],
  ['1', '"1"'],
  [{ perSecond: 1 }, '{ perSecond: 1 }'],
  [{ perSecond: 0, burst: 1 }, '{ perSecond: 0, burst: 1 }'],
  [{ perSecond: 1, burst: Infinity }, '{ perSecond: 1, burst: Infinity }'],
  [{ perSecond: '1', burst: Number.NaN }, '{ perSecond: "1", burst: NaN }'],
])('a rate that would limit nothing is an error that shows it: %j', (calls, shown) => {
  const defaults = { calls: { perSecond: 1, burst: 2 } as unknown }
  expect(() => withDefaults(defaults, { calls })).toThrow(
    `limits.calls must be false or { perSecond, burst } with two numbers above 0, not ${shown}`,
  )
})

test('a rate may be changed, or switched off with false', () => {
  const defaults = { calls: { perSecond: 1, burst: 2 } as unknown }
  for (const calls of [false, { perSecond: 0.1, burst: 1 }]) expect(withDefaults(defaults, { calls })).toEqual({ calls })
})

test.each([
  [{}, '{}'],
  [-1, '-1'],
  ['4', '"4"'],
  [false, 'false'],
  [null, 'null'],
])('a number that would limit nothing is an error that shows it: %j', (max, shown) => {
  expect(() => withDefaults(DEFAULTS, { max })).toThrow(`limits.max must be a number that is not negative, not ${shown}`)
})

test('limits that are options themselves are named with their function', () => {
  expect(() => withDefaults(DEFAULTS, { more: true }, { of: 'open' })).toThrow('open: unknown member "more"; expected one of max, host')
  expect(() => fileTaskStore('/nowhere', { maxBytes: '1' as never })).toThrow(
    'fileTaskStore: maxBytes must be a number that is not negative, not "1"',
  )
})

test('a number may be switched off with false where that is said', () => {
  expect(withDefaults(DEFAULTS, { max: false }, { mayBeOff: { max: 1 } })).toMatchObject({ max: false })
  expect(() => withDefaults(DEFAULTS, { max: true }, { mayBeOff: { max: 1 } })).toThrow(
    'limits.max must be a number that is not negative, or false, not true',
  )
})
