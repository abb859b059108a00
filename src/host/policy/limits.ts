/** How often, how many at once and for how much: limits of rules, the tightest of them, and whether one is reached. */

import { McpError } from '../../protocol/errors.ts'
import type { ActionLimits, Usage } from '../model/action.ts'
import type { RuleLimits } from '../model/rule.ts'

const RATE = /^([1-9]\d{0,8})\/([mhd])$/
const RATE_NAMES = { m: 'perMinute', h: 'perHour', d: 'perDay' } as const

/** @throws McpError ERR_CONFIG */
export function limitsOf({ rate, ...others }: RuleLimits = {}): ActionLimits {
  if (rate === undefined) return others
  const [, count, unit] = RATE.exec(rate) ?? []
  if (count === undefined) {
    throw new McpError('ERR_CONFIG', `limits.rate: expected something like "30/m", "100/h" or "1000/d", got ${JSON.stringify(rate)}`)
  }
  return { ...others, [RATE_NAMES[unit as keyof typeof RATE_NAMES]]: Number(count) }
}

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

/** In words, or undefined while there is room for one more. */
export function exceeded(limits: ActionLimits, usage: Usage): string | undefined {
  for (const [name, used, unit] of LIMITED) {
    const limit = limits[name]
    if (limit !== undefined && usage[used] >= limit) return `The limit of ${limit} ${unit} (${name}) is reached`
  }
  return undefined
}

const LIMITED = [
  ['concurrent', 'concurrent', 'at the same time'],
  ['perMinute', 'lastMinute', 'a minute'],
  ['perHour', 'lastHour', 'an hour'],
  ['perDay', 'lastDay', 'a day'],
  ['spendTokens', 'tokensToday', 'tokens a day'],
] as const satisfies readonly (readonly [keyof ActionLimits, keyof Usage, string])[]
