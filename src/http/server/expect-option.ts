/** Refuses an option with a wrong value. The error says what was expected and what came. */

import { MAX_TIMER_MS } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'

/** An option that is undefined gets its default. */
export function expectOption(name: string, value: unknown, isRight: (value: unknown) => boolean, expected: string): void {
  if (value !== undefined && !isRight(value)) fail(name, expected, shown(value))
}

/** The same for an option whose wrong value can be a secret, such as the URL of a store with its password. */
export function expectSecretOption(name: string, value: unknown, isRight: (value: unknown) => boolean, expected: string): void {
  if (value !== undefined && !isRight(value)) fail(name, expected, kindOf(value))
}

/** A longer time would end a timer at once. */
export function expectTime(name: string, value: unknown): void {
  expectOption(name, value, isTime, `a number from 0 to ${MAX_TIMER_MS}`)
}

const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MAX_TIMER_MS

export const isSwitch = (value: unknown): boolean => typeof value === 'boolean'
export const isFunction = (value: unknown): boolean => typeof value === 'function'
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** An object whose members are options. Those of a list or a map would be ignored. */
export function isPlainObject(value: unknown): value is object {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // A plain object of another realm has another `Object.prototype`.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function fail(name: string, expected: string, got: string): never {
  throw new McpError('ERR_DEFINITION', `${name} must be ${expected}, not ${got}`)
}

const MAX_SHOWN = 100

function shown(value: unknown): string {
  // Lists in lists are not shown: one may contain itself.
  const list = Array.isArray(value) && Array.from(value.slice(0, MAX_SHOWN), (each) => (Array.isArray(each) ? kindOf(each) : shown(each)))
  if (list) return `[${list.join(', ')}]`.slice(0, MAX_SHOWN)
  if (typeof value === 'string') return JSON.stringify(withoutLogin(value).slice(0, MAX_SHOWN))
  return typeof value === 'number' ? String(value) : kindOf(value)
}

/** A URL may have a name and a password before `@`. */
const withoutLogin = (text: string): string => text.replace(/^([^@]*?:\/\/)?.*@/s, '$1...@')

/** What kind of value it is, without what it says. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
