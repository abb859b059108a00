/** Addresses with too many refused credentials. What they send is refused before anything looks at it. */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { addressKey } from './client-address.ts'
import { digestOf } from './failed-logins.ts'

/** The oldest are forgotten first. */
const MAX_BLOCKED = 10_000
const MAX_GOOD = 10_000
/** How long credentials that were accepted work from a blocked address. */
const GOOD_MS = 15 * 60_000
/** How often the credentials of one caller are noted: not at every request, because a digest takes time. */
const NOTE_MS = 60_000

export class BlockedAddresses {
  readonly #now: () => number
  /** Until when each address must wait. */
  readonly #blocked = new BoundedMap<string, number>(MAX_BLOCKED)
  /** Digests of credentials that were accepted, with the time. Others at a blocked address must not lock these callers out. */
  readonly #good = new BoundedMap<string, number>(MAX_GOOD)
  /** When the credentials of each caller were noted last. */
  readonly #notedAt = new BoundedMap<string, number>(MAX_GOOD)

  constructor(now: () => number) {
    this.#now = now
  }

  block(address: string | undefined, ms: number): void {
    this.#blocked.set(addressKey(address ?? ''), this.#now() + ms)
  }

  /** The milliseconds that an address must wait; 0 if it need not. */
  waitOf(address: string | undefined): number {
    if (this.#blocked.size === 0) return 0
    return Math.max(0, (this.#blocked.get(addressKey(address ?? '')) ?? 0) - this.#now())
  }

  /** Credentials were accepted. */
  note(principal: string, credentials: string): void {
    const now = this.#now()
    if (now - (this.#notedAt.get(principal) ?? Number.NEGATIVE_INFINITY) < NOTE_MS) return
    this.#notedAt.set(principal, now)
    void digestOf(credentials).then((digest) => this.#good.set(digest, now))
  }

  /** Whether these credentials were accepted not long ago. */
  async isGood(credentials: string): Promise<boolean> {
    const at = this.#good.get(await digestOf(credentials))
    return at !== undefined && this.#now() - at < GOOD_MS
  }
}
