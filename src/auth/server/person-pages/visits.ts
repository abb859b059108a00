/** A visit: one person opens a page that a handler asked for, from the link to the end. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { type Clock, systemClock } from '../../../base/clock.ts'

/** The person that a page is for, from the access token of the call. */
export interface Invited {
  readonly issuer: string
  readonly subject: string
  /** The client that made the call. */
  readonly clientId: string
}

/** One visit, from the invitation to the return from the third party. */
export interface Visit {
  /** An unguessable id: the last part of the URL, and the id of the elicitation. */
  readonly id: string
  readonly invited: Invited
  /** The token in the form of the page, against cross-site requests. */
  readonly formToken: string
  /** Set when the person has left for the third party: digests of the `state` and of the cookie that must come back. */
  readonly left?: { state: string; cookie: string; data: Readonly<Record<string, string>> }
}

/** Stores visits. Replicas of one server must share it. */
export interface VisitStore {
  /** Adds or replaces a visit. It expires `ttlMs` after it was first saved. */
  save(visit: Visit, ttlMs: number): void | Promise<void>
  find(id: string): Visit | undefined | Promise<Visit | undefined>
  /** Returns and removes a visit in one atomic step, so that it can be used only once. */
  take(id: string): Visit | undefined | Promise<Visit | undefined>
}

/** The limits of `memoryVisits`. */
export interface VisitBounds {
  /** Maximum number of open visits. The oldest is dropped. Default: 10,000. */
  maxVisits?: number
  /** Maximum number of open visits of one person. The oldest is dropped. Default: 20. */
  maxVisitsPerPerson?: number
}

/**
 * Stores visits in memory.
 *
 * @example
 * ```ts
 * const pages = personPages({ ...options, visits: memoryVisits({ maxVisitsPerPerson: 5 }) })
 * ```
 */
export function memoryVisits({ maxVisits = 10_000, maxVisitsPerPerson = 20 }: VisitBounds = {}, clock: Clock = systemClock): VisitStore {
  const visits = new BoundedMap<string, { visit: Visit; until: number }>(maxVisits)
  const find = (id: string): Visit | undefined => {
    const kept = visits.get(id)
    if (kept && kept.until > clock.now()) return kept.visit
    visits.delete(id)
    return undefined
  }
  return {
    save: (visit, ttlMs) => {
      const before = visits.get(visit.id)
      // Saving a visit again does not extend it.
      const until = before?.until ?? clock.now() + ttlMs
      visits.delete(visit.id)
      const person = personKey(visit.invited)
      const own = [...visits.values()].filter((each) => personKey(each.visit.invited) === person)
      const [oldestOwn] = own
      if (oldestOwn && own.length >= maxVisitsPerPerson) visits.delete(oldestOwn.visit.id)
      visits.set(visit.id, { visit, until })
    },
    find,
    take: (id) => {
      const visit = find(id)
      visits.delete(id)
      return visit
    },
  }
}

const personKey = ({ issuer, subject }: Invited): string => JSON.stringify([issuer, subject])
