/** The keys of one issuer: fetched when needed, kept for a while, and not fetched more often because somebody invents key ids. */

import { createLocalJWKSet, errors, type FlattenedJWSInput, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import type { Clock } from '../../../base/clock.ts'
import type { ResourceServerLimits } from '../limits.ts'
import { IssuerUnavailable } from './token-errors.ts'

type Find = ReturnType<typeof createLocalJWKSet>

/** An authorization server that was down a moment ago may be up again sooner than new keys are made. */
const RETRY_MS = 5_000

export class KeySet {
  readonly #load: () => Promise<JSONWebKeySet>
  readonly #limits: ResourceServerLimits
  readonly #clock: Clock
  #keys: { find: Find; fetchedAt: number } | undefined
  #notBefore = Number.NEGATIVE_INFINITY
  #pending: Promise<boolean> | undefined

  constructor(load: () => Promise<JSONWebKeySet>, limits: ResourceServerLimits, clock: Clock) {
    this.#load = load
    this.#limits = limits
    this.#clock = clock
  }

  /** The key for a token; throws when there is none, and `CannotTell` when that cannot be found out. */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<Find> {
    const keys = await this.#current()
    try {
      return await keys(header, token)
    } catch (error) {
      // A key that is new since the last look; but no more looks than the cool-down allows.
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#refresh()) || !this.#keys) throw error
      return this.#keys.find(header, token)
    }
  }

  async #current(): Promise<Find> {
    const { keyCacheMs } = this.#limits
    const age = this.#keys ? this.#clock.now() - this.#keys.fetchedAt : Number.POSITIVE_INFINITY
    // Begun before the keys are too old, so that a short outage there is none here.
    if (age >= keyCacheMs / 2 && age < keyCacheMs) void this.#refresh()
    if (age >= keyCacheMs) await this.#refresh()
    const keys = this.#keys
    if (!keys || this.#clock.now() - keys.fetchedAt >= keyCacheMs) throw new IssuerUnavailable('The keys of the issuer cannot be fetched')
    return keys.find
  }

  /** True when the keys are new. */
  #refresh(): Promise<boolean> {
    if (this.#pending) return this.#pending
    if (this.#clock.now() < this.#notBefore) return NO
    this.#pending = this.#fetch().finally(() => {
      this.#pending = undefined
    })
    return this.#pending
  }

  async #fetch(): Promise<boolean> {
    const { keyCoolDownMs } = this.#limits
    const startedAt = this.#clock.now()
    this.#notBefore = startedAt + keyCoolDownMs
    try {
      this.#keys = { find: createLocalJWKSet(await this.#load()), fetchedAt: startedAt }
      return true
    } catch {
      this.#notBefore = this.#clock.now() + Math.min(RETRY_MS, keyCoolDownMs)
      return false
    }
  }
}

const NO = Promise.resolve(false)
