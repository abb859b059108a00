/** Merges options with their defaults. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import { isRate } from '../base/rate.ts'
import { checkMembers } from './check-members.ts'
import { McpError } from './errors.ts'

/**
 * Merges limits with their defaults. A name without a default is an error, and so is a value that would limit nothing: comparisons with it
 * are always false, or its bucket is never empty.
 *
 * @param mayBeOff limits, besides rates, that `false` switches off
 * @param of the function whose options have the limits, for errors. Default: they are in the option `limits`
 */
export function withDefaults<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given | undefined,
  { mayBeOff = {}, of }: { mayBeOff?: Readonly<Record<string, 1>>; of?: string } = {},
): Defaults & Given {
  checkMembers<object>(of ?? 'limits', given, defaults)
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined) continue
    const expected = expectedFor((defaults as Record<string, unknown>)[name], value, Object.hasOwn(mayBeOff, name))
    if (expected)
      throw new McpError('ERR_DEFINITION', `${of === undefined ? 'limits.' : `${of}: `}${name} must be ${expected}, not ${shown(value)}`)
  }
  return mergeOptions(defaults, given)
}

/** What a limit must be; undefined if `value` is that. NaN has an error of its own. */
function expectedFor(standard: unknown, value: unknown, mayBeOff: boolean): string | undefined {
  if (isRate(standard)) return value === false || isRate(value) ? undefined : 'false or { perSecond, burst } with two numbers above 0'
  if (typeof standard !== 'number' || (typeof value === 'number' && !(value < 0)) || (mayBeOff && value === false)) return undefined
  return `a number that is not negative${mayBeOff ? ', or false' : ''}`
}

/** JSON has no Infinity and no NaN. */
function shown(value: unknown): string {
  const text = (each: unknown): string => (typeof each === 'string' ? JSON.stringify(each) : asText(each))
  const members = isObject(value) ? Object.entries(value).map(([name, each]) => `${name}: ${text(each)}`) : []
  return members.length > 0 ? `{ ${members.join(', ')} }` : text(value)
}

/**
 * An option that is undefined gets its default: a limit must not vanish because `process.env` has no value for it. NaN is
 * an error, because every comparison with it is false and the limit would never apply.
 */
export function mergeOptions<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given | undefined,
): Defaults & Given {
  const entries = Object.entries(given ?? {}).filter(([, value]) => value !== undefined)
  for (const [name, value] of entries) if (Number.isNaN(value)) throw new McpError('ERR_DEFINITION', `The option ${name} is not a number`)
  return { ...defaults, ...Object.fromEntries(entries) } as Defaults & Given
}
