/** The keys of one issuer: fetched on use and cached. Tokens with invented key ids do not cause more fetches. */

import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import { IssuerUnavailable } from './token-errors.ts'

type Find = ReturnType<typeof createLocalJWKSet>

/** The shortest time between two fetches, however many tokens name an unknown key. Issuers publish new keys long before use. */
const COOL_DOWN_MS = 30_000
/** After a failed fetch the next one may come sooner than the cool-down: an outage usually ends before keys change. */
const RETRY_MS = 5_000
/** How long fetched keys are used: short enough that a revoked key is soon refused. */
const KEY_CACHE_MS = 10 * 60_000

export class KeySet {
  readonly #load: () => Promise<JSONWebKeySet>
  readonly #clock: Clock
  #keys: { find: Find; fetchedAt: number } | undefined
  #notBefore = Number.NEGATIVE_INFINITY
  #pending: Promise<boolean> | undefined

  constructor(load: () => Promise<JSONWebKeySet>, clock: Clock) {
    this.#load = load
    this.#clock = clock
  }

  /** The key of a token. Throws if there is none, and `IssuerUnavailable` if the keys cannot be fetched. */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<Find> {
    const keys = await this.#current()
    try {
      return await keys(header, token)
    } catch (error) {
      // The key may be newer than the cache. The cool-down bounds how often it is fetched again.
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#refresh()) || !this.#keys) throw error
      return this.#keys.find(header, token)
    }
  }

  async #current(): Promise<Find> {
    const age = this.#keys ? this.#clock.now() - this.#keys.fetchedAt : Number.POSITIVE_INFINITY
    // Renewed before they expire, so that a short outage of the issuer has no effect here.
    if (age >= KEY_CACHE_MS / 2 && age < KEY_CACHE_MS) void this.#refresh()
    if (age >= KEY_CACHE_MS) await this.#refresh()
    const keys = this.#keys
    if (!keys || this.#clock.now() - keys.fetchedAt >= KEY_CACHE_MS) throw new IssuerUnavailable('The keys of the issuer cannot be fetched')
    return keys.find
  }

  /** True if new keys were fetched. */
  #refresh(): Promise<boolean> {
    if (this.#pending) return this.#pending
    if (this.#clock.now() < this.#notBefore) return NO
    this.#pending = this.#fetch().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #fetch(): Promise<boolean> {
    const startedAt = this.#clock.now()
    this.#notBefore = startedAt + COOL_DOWN_MS
    try {
      this.#keys = { find: createLocalJWKSet(await this.#load()), fetchedAt: startedAt }
      return true
    } catch {
      this.#notBefore = this.#clock.now() + RETRY_MS
      return false
    }
  }
}

const NO = Promise.resolve(false)
