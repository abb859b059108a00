/** The limits of callers when several replicas serve them: each limit holds for all replicas together. */

import type { Clock, Timer } from '../../../base/clock.ts'
import { reportError } from '../../../base/report-error.ts'
import type { Incoming } from '../../../jsonrpc/message.ts'
import type { SharedServices } from '../../../protocol/interfaces/replaceable-services.ts'
import { BatchedRates } from '../../../store/batched-rates.ts'
import type { SharedStore } from '../../../store/shared-store.ts'
import type { AllHttpLimits } from '../fixed-limits.ts'
import { INTERNAL, type Refusal } from '../refusal.ts'
import { type FaultReports, faultsOf } from '../shared/fault-reports.ts'
import { storeRefusal, UNUSABLE } from '../shared/store-refusal.ts'
import type { HttpPost } from '../stateless.ts'
import { type CallerLimits, LISTEN_LIMITS, REQUEST_LIMITS, SESSION_LIMITS } from './caller-limits.ts'
import type { CallerUsage } from './caller-usage.ts'
import { SharedFailedLogins } from './shared-failed-logins.ts'
import { type PlaceKind, SharedPlaces } from './shared-places.ts'

/** Requests in progress that a replica may hold in advance: this part of the limit. */
const SPARE_PART = 16
/** How often places that are not needed are given back, at least. */
const RENEW_MS = 1000
/** The lease of a store of another process, before that has told it. */
const USUAL_LEASE_MS = 10_000

/** By kind of the caller. A kind without a limit has no entry. */
type PlacesByKind = Partial<Record<CallerUsage['kind'], SharedPlaces>>

export class SharedLimits {
  readonly failedLogins: SharedFailedLogins
  readonly #requests: PlacesByKind
  readonly #listens: PlacesByKind
  readonly #legacySessions: PlacesByKind
  readonly #clock: Clock
  readonly #faults: FaultReports
  readonly #leaseMs: number
  #timer: Timer | undefined

  constructor(store: SharedStore, limits: AllHttpLimits, clock: Clock) {
    const { counters } = store
    const now = (): number => clock.now()
    this.#clock = clock
    this.#faults = faultsOf(store, clock)
    this.#leaseMs = store.replica.leaseMs || USUAL_LEASE_MS
    this.failedLogins = new SharedFailedLogins(limits.failedLogins, counters)
    const placesOf = (of: CallerLimits, used: PlaceKind['used'], sparePart = Number.POSITIVE_INFINITY): PlacesByKind => {
      const places: PlacesByKind = {}
      for (const kind of ['principal', 'address'] as const) {
        const max = limits[of[kind].limit]
        if (max === false) continue
        const spare = Math.floor(max / sparePart)
        places[kind] = new SharedPlaces({ ...of[kind], max, used, spare }, counters, this.#leaseMs, now)
      }
      return places
    }
    this.#requests = placesOf(REQUEST_LIMITS, ({ inFlight }) => inFlight, SPARE_PART)
    this.#listens = placesOf(LISTEN_LIMITS, (usage) => usage.listens)
    this.#legacySessions = placesOf(SESSION_LIMITS, ({ legacySessions }) => legacySessions)
    this.#renewLater()
  }

  /**
   * Answers a request if its caller has room for it, now or after the store was asked.
   *
   * @param answer answers it, or returns a refusal
   * @param send sends a refusal that was found out later
   */
  admit(
    message: Incoming,
    { usage, body, reply }: Pick<HttpPost, 'usage' | 'body'> & { reply: { isGone: boolean } },
    answer: () => Refusal | undefined,
    send: (refusal: Refusal) => void,
  ): Refusal | undefined {
    const isListen = message.kind === 'request' && message.method === 'subscriptions/listen'
    const places = (isListen ? this.#listens : this.#requests)[usage.kind]
    if (!places) return answer()
    const { requests } = body
    const run = (): Refusal | undefined => {
      try {
        return answer()
      } finally {
        places.entered(usage, requests)
      }
    }
    const asked = places.enter(usage, requests)
    if (!asked) return run()
    // The memory of the message counts while the store is asked.
    body.isInFlight = true
    const later = (refused: Refusal | undefined): void => {
      body.isInFlight = false
      let refusal = refused
      try {
        if (!refused && reply.isGone) places.entered(usage, requests)
        else refusal ??= run()
      } catch (error) {
        // Nobody else would catch it.
        reportError('portico: an HTTP request failed:', error)
        refusal = INTERNAL
      }
      if (!body.isInFlight) body.release()
      if (refusal) send(refusal)
    }
    asked.then(later, (error: unknown) => later(this.#storeFault(error)))
    return undefined
  }

  /** Opens a session of the oldest transport, or refuses it. Rejects if the store fails. */
  async admitLegacySession(usage: CallerUsage, open: () => Refusal | undefined): Promise<Refusal | undefined> {
    const places = this.#legacySessions[usage.kind]
    if (!places) return open()
    // Otherwise the usage could be removed before the session counts in it.
    usage.arriving++
    try {
      const refused = await places.enter(usage)
      if (refused) return refused
      try {
        return open()
      } finally {
        places.entered(usage)
      }
    } finally {
      usage.arriving--
    }
  }

  /** Counts a request that began at another replica, and runs here from now on. It is not refused. */
  hold(usage: CallerUsage): void {
    this.#requests[usage.kind]?.hold(usage).catch(() => {})
  }

  close(): void {
    this.#timer?.cancel()
    for (const places of this.#all()) void places.close()
  }

  /** The refusal for a request that needs the store. */
  #storeFault(error: unknown): Refusal {
    const refusal = storeRefusal(error)
    if (!refusal || refusal === UNUSABLE) this.#faults.report(error)
    return refusal ?? INTERNAL
  }

  #renewLater(): void {
    this.#timer = this.#clock.after(Math.min(this.#leaseMs / 3, RENEW_MS), () => {
      for (const places of this.#all()) void places.renew()
      this.#renewLater()
    })
  }

  #all(): SharedPlaces[] {
    return [this.#requests, this.#listens, this.#legacySessions].flatMap((kinds) => Object.values(kinds))
  }
}

const services = new WeakMap<SharedStore, SharedServices>()

/** What a server shares through a store. One for each store, so that all its endpoints count together. */
export function servicesOf(store: SharedStore, clock: Clock): SharedServices {
  const kept = services.get(store) ?? {
    rates: new BatchedRates(store.counters),
    tasks: store.tasks,
    report: (error) => faultsOf(store, clock).report(error),
    useKeys: (keys) => store.useKeys?.(keys),
  }
  services.set(store, kept)
  return kept
}
