import { expect, test } from 'vitest'
import { withDefaults } from '../../src/protocol/with-defaults.ts'

const DEFAULTS = { max: 4, host: '127.0.0.1' }

test('an undefined option has its default', () => {
  expect(withDefaults(DEFAULTS, { max: undefined, host: 'a', more: true })).toEqual({ max: 4, host: 'a', more: true })
  expect(withDefaults(DEFAULTS, undefined)).toEqual(DEFAULTS)
})

test('an option that is not a number is an error that names it', () => {
  expect(() => withDefaults(DEFAULTS, { max: Number('ten') })).toThrow('The option max is not a number')
})

test('a prototype key changes no prototype', () => {
  const made = withDefaults(DEFAULTS, JSON.parse('{"__proto__":{"max":9}}') as object)
  expect([Object.getPrototypeOf(made), made.max]).toEqual([Object.prototype, 4])
})
