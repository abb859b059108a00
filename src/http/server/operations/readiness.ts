/** Runs the health checks of a handler, within limits of time and rate. */

import { asText } from '../../../base/as-text.ts'
import { isObject } from '../../../base/json.ts'
import { within } from '../../../base/wait.ts'
import { kindOf } from '../expect-option.ts'
import type { HttpCounts } from '../http-counts.ts'
import type { HttpLimits } from '../options.ts'
import { type CheckAnswer, CheckLog } from './check-log.ts'
import type { HealthCheck, HealthProblem } from './health.ts'

/** The part of an endpoint that the checks need. */
export interface CheckedEndpoint {
  readonly isReady: boolean
  readonly counts: HttpCounts
  readonly limits: HttpLimits
  /** By name. */
  readonly checks: ReadonlyMap<string, HealthCheck>
}

/** The state of the server, and what is wrong. */
export interface Readiness {
  status: 'ok' | HealthProblem['state']
  checks: Record<string, { status: 'ok' } | { status: HealthProblem['state']; reason: string }>
}

/** Kubernetes waits one second for the answer to a probe. */
const CHECK_MS = 750
/** Probes within this time get the same answer, so that they cannot wear out what the checks ask. */
const FRESH_MS = 1000
/** A server that uses more than this part of a limit will soon refuse requests. */
const NEARLY_FULL = 0.9

const LATE: HealthProblem = { state: 'down', reason: `The check took longer than ${CHECK_MS} ms` }

/** What is used, how many, and the limit. */
type Use = readonly [what: string, used: number, limit: 'maxInFlight' | 'maxSessions' | 'maxStreams' | 'maxBodyBytesInHand']

export class ReadinessChecks {
  readonly #endpoint: CheckedEndpoint
  readonly #countSessions: (() => Promise<number>) | undefined
  readonly #log = new CheckLog()
  #answer: Promise<Readiness> | undefined
  #askedAt = 0

  /** @param countSessions the sessions of all replicas, if there are others */
  constructor(endpoint: CheckedEndpoint, countSessions?: () => Promise<number>) {
    this.#endpoint = endpoint
    this.#countSessions = countSessions
  }

  async read(): Promise<Readiness> {
    // Never from the past: after the shutdown began, requests must go elsewhere at once.
    if (!this.#endpoint.isReady) return shuttingDown()
    const now = performance.now()
    if (!this.#answer || now - this.#askedAt >= FRESH_MS) {
      this.#askedAt = now
      this.#answer = this.#run()
    }
    return this.#answer
  }

  async #run(): Promise<Readiness> {
    const asked = [...this.#endpoint.checks].map(async ([name, check]) => [name, await ask(check)] as const)
    const capacity = this.#capacity(await this.#sessions())
    const answers = new Map<string, CheckAnswer>([['capacity', capacity], ...(await Promise.all(asked))])
    this.#log.note(answers)
    // A name may be any text, also `__proto__`.
    const checks = Object.fromEntries([...answers].map(([name, answer]) => [name, shown(answer)]))
    const states = Object.values(checks).map(({ status }) => status)
    return { status: states.includes('down') ? 'down' : states.includes('degraded') ? 'degraded' : 'ok', checks }
  }

  /** Undefined while the store does not answer, which is for its own check to say. */
  async #sessions(): Promise<Use | undefined> {
    const { counts } = this.#endpoint
    if (!this.#countSessions) return ['sessions', counts.sessions, 'maxSessions']
    const all = await within(CHECK_MS, this.#countSessions(), undefined).catch(() => undefined)
    return all === undefined ? undefined : ['sessions of all replicas', all, 'maxSessions']
  }

  #capacity(sessions: Use | undefined): HealthProblem | undefined {
    const { counts, limits } = this.#endpoint
    const uses: readonly Use[] = [
      ['requests in progress', counts.inFlight, 'maxInFlight'],
      ...(sessions ? [sessions] : []),
      ['sessions of the oldest transport', counts.legacySessions, 'maxSessions'],
      ['open streams', counts.streams, 'maxStreams'],
      ['bytes of messages in progress', counts.bodyBytes, 'maxBodyBytesInHand'],
    ]
    const full = uses.filter(([, used, limit]) => used >= limits[limit] * NEARLY_FULL)
    if (full.length === 0) return undefined
    return {
      state: 'degraded',
      reason: full.map(([what, used, limit]) => `${used} of ${limits[limit]} ${what} (limits.${limit})`).join('; '),
    }
  }
}

async function ask(check: HealthCheck): Promise<CheckAnswer> {
  try {
    return checkedAnswer(await within(CHECK_MS, check(), LATE))
  } catch (error) {
    return { state: 'down', error }
  }
}

/** Checks may be written without types. One whose answer nobody understands must not count as healthy. */
function checkedAnswer(answer: unknown): HealthProblem | undefined {
  if (answer === undefined) return undefined
  const { state, reason } = isObject(answer) ? answer : {}
  if (state === 'down' || state === 'degraded') return { state, reason: typeof reason === 'string' ? reason : 'The check gave no reason' }
  const got = state === undefined ? kindOf(answer) : `an object with the state ${asText(state)}`
  throw new TypeError(`Expected nothing, or { state: 'degraded' or 'down', reason }, got ${got}`)
}

function shown(answer: CheckAnswer): Readiness['checks'][string] {
  if (answer === undefined) return { status: 'ok' }
  // The text of an error is only for the log: everyone who can reach the path can read the answer.
  return { status: answer.state, reason: 'error' in answer ? 'The check failed; see the log of the server' : answer.reason }
}

const shuttingDown = (): Readiness => ({
  status: 'down',
  checks: { shutdown: { status: 'down', reason: 'The server is shutting down' } },
})
