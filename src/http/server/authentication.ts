/** Finds out who calls. Counts refused credentials by address, and looks at no more of them when there were too many. */

import type { Rate } from '../../base/rate.ts'
import { BlockedAddresses } from './limits/blocked-addresses.ts'
import { FailedLogins, type LoginFailures, tooManyFailures } from './limits/failed-logins.ts'
import type { AuthenticatedCaller, AuthRefusal, HttpOptions } from './options.ts'
import { type Refusal, refuse, STORE_DOWN } from './refusal.ts'
import type { HttpRequestView } from './runtime/request-reply.ts'

type Prove = NonNullable<HttpOptions['authenticate']>

export class Authentication {
  /** With a store, all replicas count together. */
  failures: LoginFailures
  readonly #prove: Prove
  readonly #rate: Rate | false
  readonly #blocked: BlockedAddresses
  /** The header with the credentials, as the last refusal of some named it. */
  #header = 'authorization'

  constructor(prove: Prove, rate: Rate | false, now: () => number) {
    this.#prove = prove
    this.#rate = rate
    this.failures = new FailedLogins(rate, now)
    this.#blocked = new BlockedAddresses(now)
  }

  /** The caller, or the answer to a request without one. Never rejects. */
  async callerOf(request: HttpRequestView): Promise<AuthenticatedCaller | Refusal> {
    const waitMs = this.#blocked.waitOf(request.remoteAddress)
    if (waitMs > 0) {
      // Guesses must not reach a database or an issuer.
      const credentials = request.header(this.#header)
      if (credentials !== undefined && !(await this.#blocked.isGood(credentials))) return this.#tooMany(waitMs)
    }
    let outcome: AuthenticatedCaller | AuthRefusal
    try {
      outcome = await authenticated(request, this.#prove)
    } catch {
      return refuse(503, 'The authentication service is not available', { kind: 'auth_unavailable', headers: { 'retry-after': '5' } })
    }
    if (!('principal' in outcome)) return this.#countFailure(request, outcome).catch(() => STORE_DOWN)
    const credentials = request.header(this.#header)
    if (credentials !== undefined) this.#blocked.note(outcome.principal, credentials)
    return outcome
  }

  /** Counts refused credentials. Too many are answered with 429; a request without credentials always learns how to log in. */
  async #countFailure(request: HttpRequestView, refusal: AuthRefusal): Promise<Refusal> {
    const { status, credentialsHeader = 'authorization' } = refusal
    const header = credentialsHeader.toLowerCase()
    const credentials = status === 401 ? request.header(header) : undefined
    if (!credentials) return refusal
    this.#header = header
    const waitMs = await this.failures.count(request.remoteAddress, credentials)
    if (waitMs === 0) return refusal
    this.#blocked.block(request.remoteAddress, waitMs)
    return this.#tooMany(waitMs)
  }

  #tooMany(waitMs: number): Refusal {
    return tooManyFailures((this.#rate as Rate).burst, waitMs)
  }
}

/** Rejects a malformed return value (possible from untyped callers), so that a bug in `authenticate` never admits anyone. */
async function authenticated(request: HttpRequestView, authenticate: Prove): Promise<AuthenticatedCaller | AuthRefusal> {
  const outcome: AuthenticatedCaller | AuthRefusal = await authenticate(request)
  const isValid =
    'principal' in outcome
      ? typeof outcome.principal === 'string' && outcome.principal !== ''
      : outcome.status >= 400 && outcome.status < 600
  if (!isValid) throw new TypeError('authenticate must return a principal, or the status of a refusal')
  return outcome
}
