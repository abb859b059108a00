/** The limits of rules (rate, concurrency, spending): parsing, combining and checking them. */

import { McpError } from '../../protocol/errors.ts'
import type { ActionLimits, Usage } from '../model/action.ts'
import type { RuleLimits } from '../model/rule.ts'

const RATE = /^([1-9]\d{0,8})\/([mhd])$/
const RATE_NAMES = { m: 'perMinute', h: 'perHour', d: 'perDay' } as const

/** Parses the limits of a rule. @throws McpError ERR_CONFIG for an invalid rate */
export function parseLimits({ rate, ...others }: RuleLimits = {}): ActionLimits {
  if (rate === undefined) return others
  const [, count, unit] = RATE.exec(rate) ?? []
  if (count === undefined) {
    throw new McpError('ERR_CONFIG', `limits.rate: expected a rate such as "30/m", "100/h" or "1000/d", got ${JSON.stringify(rate)}`)
  }
  return { ...others, [RATE_NAMES[unit as keyof typeof RATE_NAMES]]: Number(count) }
}

/** The lowest of each limit. */
export function tightest(limits: readonly ActionLimits[]): ActionLimits {
  const result: ActionLimits = {}
  for (const each of limits) {
    for (const name of Object.keys(each) as (keyof ActionLimits)[]) {
      const value = each[name]
      if (value !== undefined) result[name] = Math.min(value, result[name] ?? value)
    }
  }
  return result
}

/** Describes the limit that is reached. Undefined: one more action is allowed. */
export function describeExceeded(limits: ActionLimits, usage: Usage): string | undefined {
  for (const [name, used, unit] of LIMITED) {
    const limit = limits[name]
    if (limit !== undefined && usage[used] >= limit) return `The limit of ${limit} ${unit} (${name}) is reached`
  }
  return undefined
}

const LIMITED = [
  ['concurrent', 'concurrent', 'at the same time'],
  ['perMinute', 'lastMinute', 'per minute'],
  ['perHour', 'lastHour', 'per hour'],
  ['perDay', 'lastDay', 'per day'],
  ['spendTokens', 'tokensToday', 'tokens per day'],
] as const satisfies readonly (readonly [keyof ActionLimits, keyof Usage, string])[]
