/** Parses durations in policies. */

import { McpError } from '../../protocol/errors.ts'

const DURATION = /^([1-9]\d{0,5})(s|m|h|d)$/
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * The milliseconds of a duration as policies have it: a number and `s`, `m`, `h` or `d`.
 *
 * @example
 * createHost({ folder, auditRetention: { maxAgeMs: durationMs('30d') } })
 *
 * @throws McpError ERR_CONFIG for an invalid duration
 */
export function durationMs(text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? []
  if (count === undefined)
    throw new McpError('ERR_CONFIG', `Expected a duration such as "90s", "15m", "8h" or "30d", got ${JSON.stringify(text)}`)
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
}
