/** What one caller may have at once: the limit for callers of each kind, and the words of its refusal. */

import type { AllHttpLimits } from '../fixed-limits.ts'
import { busy, busyFixed, type Refusal } from '../refusal.ts'
import type { CallerUsage } from './caller-usage.ts'

export interface CallerLimit {
  limit:
    | 'maxInFlightPerPrincipal'
    | 'maxInFlightPerAddress'
    | 'maxListensPerPrincipal'
    | 'maxStreamsPerAddress'
    | 'maxSessionsPerPrincipal'
    | 'maxSessionsPerAddress'
  /** What there is too much of. */
  what: string
  /** No option changes it. */
  isFixed?: true
}

/** Without an address there is no limit. */
export type CallerLimits = Readonly<Record<Exclude<CallerUsage['kind'], 'unknown'>, CallerLimit>>

export const REQUEST_LIMITS: CallerLimits = {
  principal: { limit: 'maxInFlightPerPrincipal', what: 'requests at once' },
  address: { limit: 'maxInFlightPerAddress', what: 'requests at once from one address' },
}

/** Open `subscriptions/listen` requests. Those of an address count as streams. */
export const LISTEN_LIMITS: CallerLimits = {
  principal: { limit: 'maxListensPerPrincipal', what: 'open subscriptions', isFixed: true },
  address: { limit: 'maxStreamsPerAddress', what: 'open streams of one address' },
}

export const SESSION_LIMITS: CallerLimits = {
  principal: { limit: 'maxSessionsPerPrincipal', what: 'sessions of one caller' },
  address: { limit: 'maxSessionsPerAddress', what: 'sessions of one address' },
}

/** The refusal of `more`, if a caller that uses so many may not have them. */
export function refuseMore(limits: AllHttpLimits, of: CallerLimits, { kind }: CallerUsage, used: number, more = 1): Refusal | undefined {
  if (kind === 'unknown') return undefined
  const limit = of[kind]
  const max = limits[limit.limit]
  return max === false || used + more <= max ? undefined : tooMany(limit, max, more)
}

export const tooMany = ({ limit, what, isFixed }: CallerLimit, max: number, more: number): Refusal =>
  isFixed ? busyFixed(429, limit, max, what) : busy(429, limit, max, what, more)
