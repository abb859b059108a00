/** Merges options with their defaults. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import { isRate } from '../base/rate.ts'
import { checkMembers } from './check-members.ts'
import { McpError } from './errors.ts'

/**
 * Merges limits with their defaults. A name without a default is an error, and so is a wrong rate: its bucket would never be empty, and the
 * limit would never apply.
 */
export function withDefaults<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given | undefined,
): Defaults & Given {
  checkMembers<object>('limits', given, defaults)
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined || value === false || isRate(value) || !isRate((defaults as Record<string, unknown>)[name])) continue
    throw new McpError(
      'ERR_DEFINITION',
      `limits.${name} must be false or { perSecond, burst } with two numbers above 0, not ${shown(value)}`,
    )
  }
  return mergeOptions(defaults, given)
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
