/** Finds out who calls. Counts refused credentials by address, and looks at no more of them when there were too many. */

import type { Rate } from '../../base/rate.ts'
import { reportError } from '../../base/report-error.ts'
import { BlockedAddresses } from './limits/blocked-addresses.ts'
import { FailedLogins, type LoginFailures, tooManyFailures } from './limits/failed-logins.ts'
import type { AuthenticatedCaller, AuthRefusal, HttpOptions } from './options.ts'
import { type Refusal, refuse, STORE_DOWN } from './refusal.ts'
import type { HttpRequestView } from './runtime/request-reply.ts'

type Prove = NonNullable<HttpOptions['authenticate']>

/** At most one report in this time: an `authenticate` that fails can fail at every request. */
const REPORT_PAUSE_MS = 60_000

export class Authentication {
  /** With a store, all replicas count together. */
  failures: LoginFailures
  readonly #prove: Prove
  readonly #rate: Rate | false
  readonly #blocked: BlockedAddresses
  readonly #now: () => number
  readonly #isGood: (credentials: string) => boolean | Promise<boolean>
  #reportedAt = Number.NEGATIVE_INFINITY
  /** The header with the credentials, as the last refusal of some named it. */
  #header = 'authorization'

  /** @param isGood whether a blocked address may use these credentials. Default: if this process accepted them not long ago. */
  constructor(prove: Prove, rate: Rate | false, now: () => number, isGood?: (credentials: string) => boolean) {
    this.#prove = prove
    this.#rate = rate
    this.failures = new FailedLogins(rate, now)
    this.#blocked = new BlockedAddresses(now)
    this.#isGood = isGood ?? ((credentials) => this.#blocked.isGood(credentials))
    this.#now = now
  }

  /** The caller, or the answer to a request without one. Never rejects. */
  async callerOf(request: HttpRequestView): Promise<AuthenticatedCaller | Refusal> {
    const waitMs = this.#blocked.waitOf(request.remoteAddress)
    if (waitMs > 0) {
      // Guesses must not reach a database or an issuer.
      const credentials = request.header(this.#header)
      if (credentials !== undefined && !(await this.#isGood(credentials))) return this.#tooMany(waitMs)
    }
    let outcome: AuthenticatedCaller | AuthRefusal
    try {
      outcome = await authenticated(request, this.#prove)
    } catch (error) {
      this.#report(error)
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

  #report(error: unknown): void {
    const now = this.#now()
    if (now - this.#reportedAt < REPORT_PAUSE_MS) return
    this.#reportedAt = now
    reportError('portico: authenticate failed:', error)
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
  const fault = 'principal' in outcome ? undefined : headerFault(outcome.headers)
  if (fault !== undefined)
    throw new TypeError(`authenticate must return headers that HTTP can carry, as texts of Latin-1 without line breaks: ${fault}`)
  return outcome
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const ILLEGAL = /[^\t -~\x80-\xff]/

/** What is wrong with headers that could not be written. The value is not shown. */
function headerFault(headers: Readonly<Record<string, unknown>> | null | undefined): string | undefined {
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!HEADER_NAME.test(name)) return `${JSON.stringify(name)} is no name of a header`
    if (typeof value !== 'string' && typeof value !== 'number') return `${name} is ${value === undefined ? value : 'no text'}`
    const illegal = ILLEGAL.exec(String(value))?.[0]
    if (illegal !== undefined) return `${name} contains U+${illegal.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  }
  return undefined
}
