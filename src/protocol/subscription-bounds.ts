/** How many subscriptions one caller may have, and all callers of a process or of a store. */

import { McpError } from './errors.ts'

export interface SubscriptionBounds {
  perCaller: number
  inAll: number
}

const CHARS_OF_ONE = 64

/** A long URI counts as several, so that one number bounds their memory, too. */
export const weightOf = (uri: string): number => Math.max(1, Math.ceil(uri.length / CHARS_OF_ONE))

/** One session may have at least so many. */
const LEAST = 1024
/** A caller may fill 32 sessions, and 8 such callers the process. */
const PER_CALLER = 32
const IN_ALL = 256

export function subscriptionBounds(maxSubscriptions: number): SubscriptionBounds {
  const one = Math.max(LEAST, maxSubscriptions)
  return { perCaller: PER_CALLER * one, inAll: IN_ALL * one }
}

/** Throws ERR_LIMIT if there would be too many. */
export function checkSubscriptions(own: number, all: number, { perCaller, inAll }: SubscriptionBounds): void {
  const isOwn = own > perCaller
  if (!isOwn && all <= inAll) return
  const [limit, max, whose] = isOwn
    ? ['maxSubscriptionsPerCaller', perCaller, 'one caller']
    : ['maxSubscriptionsInAll', inAll, 'all callers']
  const text = `Too many subscriptions of ${whose}: at most ${max}, and a URI counts for each ${CHARS_OF_ONE} characters (limits.maxSubscriptions)`
  throw new McpError('ERR_LIMIT', text, { data: { reason: 'limit', limit, max } })
}
