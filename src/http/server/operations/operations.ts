/** What an operator gets: health, metrics, and a record of each request. Loaded only if an option asks for it. */

import type { Rate } from '../../../base/rate.ts'
import { reportError } from '../../../base/report-error.ts'
import type { Arrival } from '../../../jsonrpc/outlet.ts'
import { byLabel, gauge, type MetricFamily, PROMETHEUS_TYPE, prometheusText } from '../../../observability/metrics/metric-family.ts'
import { count, RequestMetrics } from '../../../observability/metrics/request-metrics.ts'
import { keptEventBytes, StoreMetrics } from '../../../observability/metrics/store-metrics.ts'
import { observed } from '../../../observability/observed-service.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { Authentication } from '../authentication.ts'
import type { LoginFailures } from '../limits/failed-logins.ts'
import type { AuthRefusal, HttpOptions } from '../options.ts'
import { INTERNAL, JSON_TYPE, type Refusal } from '../refusal.ts'
import { kindOfRefusal } from '../refusal-kind.ts'
import type { Headers, HttpReply, HttpRequestView } from '../runtime/request-reply.ts'
import type { TakenOverCounts } from '../shared/dead-replicas.ts'
import { SESSIONS } from '../shared/session-topics.ts'
import type { GatheredMetricsOptions } from './health.ts'
import { OperatorGuard } from './operator-guard.ts'
import { type CheckedEndpoint, ReadinessChecks } from './readiness.ts'

type Page = (request: HttpRequestView) => Promise<{ status: number; headers: Headers; body: string } | Refusal>
type Refuse = (reply: HttpReply, refusal: Refusal) => void

const NOT_KEPT = { 'cache-control': 'no-store' }

export class Operations {
  /** The server, with its requests recorded if that is needed. */
  readonly service: Service
  readonly #endpoint: CheckedEndpoint
  readonly #guard: OperatorGuard
  readonly #readiness: ReadinessChecks
  readonly #metrics: RequestMetrics | undefined
  readonly #refuse: Refuse
  readonly #scrapers: Authentication | undefined
  readonly #gather: GatheredMetricsOptions['gather'] | undefined
  /** By reason and status. */
  readonly #refusals = new Map<string, number>()
  readonly #takenOver: TakenOverCounts = { runAgain: 0, lost: 0 }
  readonly #pages = new Map<string, Page>()
  #store: StoreMetrics | undefined
  #process: { families(): Iterable<MetricFamily>; stop(): void } | undefined

  private constructor(service: Service, options: HttpOptions, endpoint: CheckedEndpoint, refuse: Refuse) {
    const { health, metrics, store } = options
    const countSessions = store && (async () => store.topics.size(SESSIONS))
    this.#endpoint = endpoint
    this.#refuse = refuse
    this.#guard = new OperatorGuard(options)
    this.#readiness = new ReadinessChecks(endpoint, countSessions)
    const { token, serve, gather } = (typeof metrics === 'object' ? metrics : {}) as Partial<GatheredMetricsOptions>
    if (token !== undefined) this.#scrapers = scrapersWith(token, endpoint.limits.failedLogins)
    this.#gather = gather
    serve?.(() => this.#ownFamilies())
    if (health) {
      this.#pages.set('/healthz', async () => json(200, { status: 'ok' }))
      this.#pages.set('/readyz', () => this.#ready())
    }
    if (metrics) {
      this.#metrics = new RequestMetrics((name) => service.hasTool(name))
      this.#pages.set('/metrics', (request) => this.#scrape(request))
      if (store && countSessions) this.#store = new StoreMetrics(store, countSessions)
    }
    const counting = this.#metrics
    this.service =
      counting || options.onRequest
        ? observed(service, (record) => {
            counting?.add(record)
            return options.onRequest?.(record)
          })
        : service
  }

  /** @param refuse answers a request with a refusal, and reports it */
  static async create(service: Service, options: HttpOptions, endpoint: CheckedEndpoint, refuse: Refuse): Promise<Operations> {
    const operations = new Operations(service, options, endpoint, refuse)
    if (options.metrics) await operations.#watchProcess()
    return operations
  }

  /**
   * Answers every request to a path of health or metrics. These are no requests of the protocol, and are not counted as such.
   * @param path the whole path, because below the path of an endpoint a caller must authenticate
   * @returns false for all other requests
   */
  answer(path: string, request: HttpRequestView, reply: HttpReply): boolean {
    const page = this.#pages.get(path)
    if (!page) return false
    const refusal = this.#guard.check(request)
    if (refusal) this.#refuse(reply, notKept(refusal))
    else
      page(request)
        .then((answer) => {
          if ('message' in answer) this.#refuse(reply, notKept(answer))
          else if (!reply.isGone) reply.send(answer.status, { ...answer.headers, ...NOT_KEPT }, answer.body)
        })
        .catch((error: unknown) => {
          reportError(`portico: ${path} failed:`, error)
          this.#refuse(reply, notKept(INTERNAL))
        })
        // The response has begun.
        .catch(() => {})
    return true
  }

  /** With a store, all replicas count wrong tokens together. */
  countLoginsWith(failures: LoginFailures): void {
    if (this.#scrapers) this.#scrapers.failures = failures
  }

  arrivalOf(request: HttpRequestView, text: string): Arrival {
    const length = Number(request.header('content-length') ?? Number.NaN)
    return { bytes: length >= 0 ? length : encoder.encode(text).length, address: request.remoteAddress }
  }

  refused(refusal: Pick<Refusal, 'status' | 'kind' | 'limit'>): void {
    if (!this.#metrics) return
    count(this.#refusals, `${kindOfRefusal(refusal)} ${refusal.status}`)
    if (refusal.limit !== undefined) this.#metrics.limitReached(refusal.limit)
  }

  takenOver({ runAgain, lost }: TakenOverCounts): void {
    this.#takenOver.runAgain += runAgain
    this.#takenOver.lost += lost
  }

  close(): void {
    this.#process?.stop()
    this.#store?.stop()
  }

  async #ready(): ReturnType<Page> {
    const readiness = await this.#readiness.read()
    return json(readiness.status === 'down' ? 503 : 200, readiness)
  }

  async #scrape(request: HttpRequestView): ReturnType<Page> {
    const scraper = await this.#scrapers?.callerOf(request)
    if (scraper && !('principal' in scraper)) return scraper
    const families = [...(await (this.#gather?.() ?? this.#ownFamilies())), ...((await this.#store?.sessions()) ?? [])]
    return { status: 200, headers: { 'content-type': PROMETHEUS_TYPE }, body: prometheusText(families) }
  }

  async #ownFamilies(): Promise<MetricFamily[]> {
    const { status } = await this.#readiness.read()
    return [...this.#families(status !== 'down')]
  }

  *#families(isReady: boolean): Iterable<MetricFamily> {
    const { counts } = this.#endpoint
    yield* (this.#metrics as RequestMetrics).families()
    yield {
      name: 'portico_refusals_total',
      help: 'HTTP requests that were refused, and streams that were cut (status 0), by reason.',
      type: 'counter',
      samples: [...this.#refusals].map(([key, value]) => {
        const [reason = '', status = ''] = key.split(' ')
        return { labels: { reason, status }, value }
      }),
    }
    yield gauge('portico_requests_in_flight', 'Requests in progress.', counts.inFlight)
    yield gauge('portico_requests_abandoned', 'Requests in progress whose client has disconnected.', counts.abandoned)
    yield byLabel('gauge', 'portico_sessions', 'Open sessions by transport.', 'transport', [
      ['streamable_http', counts.sessions],
      ['legacy_sse', counts.legacySessions],
    ])
    yield gauge('portico_streams', 'Open streams of events.', counts.streams)
    yield gauge('portico_callers', 'Principals and addresses with something in progress.', counts.callers)
    yield gauge('portico_body_bytes', 'Memory of the messages in progress.', counts.bodyBytes)
    yield keptEventBytes(counts.keptBytes)
    yield gauge('portico_ready', '1 if /readyz answers 200, 0 if it answers 503.', isReady ? 1 : 0)
    if (this.#store) {
      yield* this.#store.families()
      yield byLabel('counter', 'portico_taken_over_requests_total', 'Requests that this replica took over, by outcome.', 'outcome', [
        ['run_again', this.#takenOver.runAgain],
        ['replica_lost', this.#takenOver.lost],
      ])
    }
    if (this.#process) yield* this.#process.families()
  }

  /** Other runtimes have no such numbers. */
  async #watchProcess(): Promise<void> {
    try {
      const { ProcessMetrics } = await import('../../../observability/metrics/process-metrics.ts')
      this.#process = new ProcessMetrics()
    } catch {}
  }
}

const encoder = new TextEncoder()

const json = (status: number, value: unknown): { status: number; headers: Headers; body: string } => ({
  status,
  headers: JSON_TYPE,
  body: `${JSON.stringify(value)}\n`,
})

const notKept = (refusal: Refusal): Refusal => ({ ...refusal, headers: { ...NOT_KEPT, ...refusal.headers } })

const WRONG_TOKEN: AuthRefusal = {
  status: 401,
  message: 'The bearer token for metrics is missing or wrong (metrics.token; in portico serve: metricsToken)',
  headers: { 'www-authenticate': 'Bearer' },
}

/** Names of schemes are not case-sensitive (RFC 9110, 11.1). */
const BEARER = /^bearer +/i

/**
 * A wrong token of one scraper must not lock out another one at the same address, also in a process that the other one has never asked.
 * So the right token always counts. A limit would save nothing: a comparison costs less than a refusal.
 */
function scrapersWith(token: string, rate: Rate | false): Authentication {
  const isRight = (given: string): boolean => BEARER.test(given) && isSame(given.replace(BEARER, ''), token)
  const prove: NonNullable<HttpOptions['authenticate']> = (request) =>
    isRight(request.header('authorization') ?? '') ? { principal: 'metrics' } : WRONG_TOKEN
  return new Authentication(prove, rate, () => performance.now(), isRight)
}

/** Compares all characters, so that the time does not tell how many are right. */
function isSame(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let i = 0; i < expected.length; i++) difference |= given.charCodeAt(i) ^ expected.charCodeAt(i)
  return difference === 0
}
