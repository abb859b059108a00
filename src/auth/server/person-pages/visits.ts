/** People on their way through a page that a handler sent them to: who must come, and what they must bring back. */

import { type Clock, systemClock } from '../../../base/clock.ts'

/** Whom a page is for, as the access token of the call said. */
export interface Invited {
  readonly issuer: string
  readonly subject: string
  /** The client through which it was asked for. */
  readonly clientId: string
}

export interface Visit {
  /** Unguessable; the last part of the URL. Also the id of the elicitation. */
  readonly id: string
  readonly invited: Invited
  /** What the form on the page must bring back. */
  readonly formToken: string
  /** Digests of what must come back from elsewhere: in the URL, and in the cookie of the browser that went there. */
  readonly left?: { state: string; cookie: string; data: Readonly<Record<string, string>> }
}

/** Keeps visits. Replicas of one server must share it. */
export interface VisitStore {
  /** Adds or replaces a visit, to be forgotten after the time given. */
  save(visit: Visit, ttlMs: number): void | Promise<void>
  find(id: string): Visit | undefined | Promise<Visit | undefined>
  /** Finds and forgets in one step: of two who come at the same time one gets nothing. */
  take(id: string): Visit | undefined | Promise<Visit | undefined>
}

export interface VisitBounds {
  /** Visits that have begun and not ended: in all, and of one person. The oldest are forgotten. */
  maxVisits?: number
  maxVisitsPerPerson?: number
}

/** Inside one process. */
export function memoryVisits({ maxVisits = 10_000, maxVisitsPerPerson = 20 }: VisitBounds = {}, clock: Clock = systemClock): VisitStore {
  const visits = new Map<string, { visit: Visit; until: number }>()
  const find = (id: string): Visit | undefined => {
    const kept = visits.get(id)
    if (kept && kept.until > clock.now()) return kept.visit
    visits.delete(id)
    return undefined
  }
  return {
    save: (visit, ttlMs) => {
      const before = visits.get(visit.id)
      // A visit lasts from its beginning, however often it is saved.
      const until = before?.until ?? clock.now() + ttlMs
      visits.delete(visit.id)
      const person = personKey(visit.invited)
      const own = [...visits.values()].filter((each) => personKey(each.visit.invited) === person)
      const [oldestOwn] = own
      const [oldest] = visits.keys()
      if (oldestOwn && own.length >= maxVisitsPerPerson) visits.delete(oldestOwn.visit.id)
      else if (oldest !== undefined && visits.size >= maxVisits) visits.delete(oldest)
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
