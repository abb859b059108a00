/** The process that was started: runs the workers, replaces those that end, and keeps what they share. */

import cluster, { type Worker } from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { asText } from '../../../base/as-text.ts'
import { MAX_TIMER_MS } from '../../../base/clock.ts'
import { notices } from '../../../base/notices.ts'
import { WORKER_NUMBER } from '../../../base/worker-number.ts'
import { ProcessMetrics } from '../../../observability/metrics/process-metrics.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { Service } from '../../../protocol/interfaces/service.ts'
import { isOfOneProcess, type MemoryStore, memoryStore } from '../../../store/memory/memory-store.ts'
import { serveStore } from '../../../store/remote/serve-store.ts'
import { FIXED_HTTP_LIMITS } from '../fixed-limits.ts'
import { createHandler } from '../handler.ts'
import type { Listening, ListenOptions } from '../listen-options.ts'
import { type ListenSettings, settingsOf, urlOf } from '../listen-settings.ts'
import { httpLimits } from '../options.ts'
import { type Closable, followSignals, unfollowSignals } from '../shutdown.ts'
import { closeLostConnections } from './lost-connections.ts'
import { MetricsGatherer } from './metrics-gatherer.ts'
import { RestartDelay } from './restart-delay.ts'
import { receiveFrom, sendTo, type ToPrimary, type ToWorker } from './worker-messages.ts'

/** How long a worker may take from its start until it listens. */
const START_MS = 60_000
/** How often workers are asked whether they live. */
const CHECK_MS = 3000
/** A worker that leaves this many questions unanswered is blocked or stopped. It is killed, because its clients would wait for ever. */
const MAX_UNANSWERED = 3
/** What a worker may take beyond `drainDelayMs` and `graceMs` to end. */
const STOP_MS = 5000

/** The place of one worker. When the worker ends, another one takes its place. */
interface Place {
  readonly number: number
  readonly delay: RestartDelay
  worker: Worker | undefined
  isListening: boolean
  startedAt: number
  unanswered: number
  /** Why this process killed the worker. */
  killedFor: string | undefined
  timer: NodeJS.Timeout | undefined
}

export class Primary implements Closable {
  readonly #service: Service
  readonly #options: ListenOptions
  readonly #settings: ListenSettings
  readonly #places: Place[]
  readonly #store: MemoryStore | undefined
  readonly #key = { id: randomBytes(6).toString('base64url'), secret: randomBytes(32).toString('base64') }
  readonly #metrics: MetricsGatherer
  readonly #closed: Promise<void>
  #settle: () => void = () => {}
  #address: AddressInfo | undefined
  #checking: NodeJS.Timeout | undefined
  #isStarting = true
  #onStart: (error?: Error) => void = () => {}
  #isClosing = false
  #restarts = 0

  constructor(service: Service, options: ListenOptions, count: number) {
    this.#service = service
    this.#options = options
    this.#settings = settingsOf(options)
    this.#places = Array.from({ length: count }, (_, i) => ({
      number: i + 1,
      delay: new RestartDelay(),
      worker: undefined,
      isListening: false,
      startedAt: 0,
      unanswered: 0,
      killedFor: undefined,
      timer: undefined,
    }))
    const { maxSessions, maxKeptBytes } = httpLimits(options.limits)
    this.#store = isOfOneProcess(options.store) ? options.store : options.store ? undefined : memoryStore({ maxSessions, maxKeptBytes })
    const process = options.metrics ? new ProcessMetrics() : undefined
    this.#metrics = new MetricsGatherer(process, () => ({
      wanted: count,
      running: this.#running,
      restarts: this.#restarts,
      keptBytes: this.#store?.keptBytes?.(),
    }))
    this.#closed = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  async start(): Promise<Listening> {
    const { health: _health, metrics: _metrics, onRequest: _onRequest, store: _store, ...plain } = this.#options
    const handler = createHandler(this.#service, plain, FIXED_HTTP_LIMITS)
    this.#address = await findAddress(this.#settings.port ?? 0, this.#settings.host)
    const { port } = this.#address
    const started = new Promise<void>((resolve, reject) => {
      this.#onStart = (error) => (error ? reject(error) : resolve())
    })
    if (this.#options.handleSignals !== false) followSignals(this)
    for (const place of this.#places) this.#fork(place)
    this.#checking = setInterval(() => this.#check(), CHECK_MS).unref()
    try {
      await started
    } catch (error) {
      await this.close(true)
      throw error
    }
    this.#isStarting = false
    return { url: urlOf(this.#address, this.#settings), port, handler, worker: undefined, closed: this.#closed, close: () => this.close() }
  }

  /** Stops all workers, and resolves when they are gone. */
  async close(isSignal = false): Promise<void> {
    if (this.#isClosing) return this.#closed
    this.#isClosing = true
    clearInterval(this.#checking)
    const { graceMs, drainDelayMs } = this.#settings
    const latest = setTimeout(() => this.#killAll(), Math.min(drainDelayMs + graceMs + STOP_MS, MAX_TIMER_MS))
    for (const place of this.#places) {
      clearTimeout(place.timer)
      if (!place.worker) continue
      if (place.isListening) sendTo<ToWorker>(place.worker, { kind: 'stop', isSignal })
      else place.worker.kill('SIGKILL')
    }
    await Promise.all(this.#places.map(({ worker }) => worker && ended(worker)))
    clearTimeout(latest)
    this.#metrics.stop()
    await this.#store?.close()
    unfollowSignals(this)
    this.#settle()
  }

  get #running(): number {
    return this.#places.filter(({ isListening }) => isListening).length
  }

  #fork(place: Place): void {
    place.startedAt = performance.now()
    place.unanswered = 0
    place.killedFor = undefined
    let worker: Worker
    try {
      worker = cluster.fork({ [WORKER_NUMBER]: String(place.number) })
    } catch (error) {
      return this.#onNotSpawned(place, error)
    }
    // A message that cannot be sent is dropped: the end of the worker follows.
    worker.on('error', () => {})
    // A worker without a process has an error, and never an exit.
    if (worker.process.pid === undefined) {
      worker.once('error', (error) => this.#onNotSpawned(place, error))
      return
    }
    place.worker = worker
    place.timer = setTimeout(() => this.#kill(place, `it did not listen within ${START_MS / 1000} s`), START_MS).unref()
    if (this.#store) {
      serveStore(this.#store.another(), {
        send: (text) => sendTo<ToWorker>(worker, { kind: 'store', text }),
        listen: (onText, onGone) => {
          receiveFrom<ToPrimary>(worker, (message) => message.kind === 'store' && onText(message.text))
          worker.once('disconnect', onGone)
        },
      })
    }
    closeLostConnections(worker)
    receiveFrom<ToPrimary>(worker, (message) => this.#receive(place, worker, message))
    worker.once('exit', (code: number | null, signal: string | null) => this.#onExit(place, code, signal))
  }

  #receive(place: Place, worker: Worker, message: ToPrimary): void {
    switch (message.kind) {
      case 'hello':
        return sendTo<ToWorker>(worker, {
          kind: 'setup',
          worker: place.number,
          port: (this.#address as AddressInfo).port,
          key: this.#key,
        })
      case 'listening':
        clearTimeout(place.timer)
        place.isListening = true
        if (!this.#isStarting) notices.write('info', `portico: worker ${place.number} (process ${worker.process.pid}) serves`)
        if (this.#running === this.#places.length) this.#onStart()
        return this.#tellState()
      case 'alive':
        place.unanswered = 0
        return
      case 'close':
        return void this.close()
      case 'gather':
        return void this.#metrics
          .gather(this.#places.filter(({ isListening }) => isListening))
          .then((parts) => sendTo<ToWorker>(worker, { kind: 'gathered', id: message.id, parts }))
      case 'metrics':
        return this.#metrics.take(String(place.number), message.id, message.families)
    }
  }

  #onExit(place: Place, code: number | null, signal: string | null): void {
    const { worker, number } = place
    const how = place.killedFor ?? (signal === null ? `it ended with code ${code}` : `signal ${signal} ended it`)
    clearTimeout(place.timer)
    place.worker = undefined
    place.isListening = false
    if (this.#isClosing) return
    if (this.#isStarting) return this.#onStart(new McpError('ERR_SPAWN', `Worker ${number} did not start: ${how}. Its output may say more`))
    this.#restarts++
    this.#tellState()
    this.#forkAgain(place, `worker ${number} (process ${worker?.process.pid}) is gone: ${how}`)
  }

  /** The system has no more processes or files for a worker, or has lost its program. */
  #onNotSpawned(place: Place, error: unknown): void {
    const what = `${place.number} could not be started: ${asText(error)}`
    if (this.#isClosing) return
    if (this.#isStarting) return this.#onStart(new McpError('ERR_SPAWN', `Worker ${what}`, { cause: error }))
    this.#forkAgain(place, `worker ${what}`)
  }

  #forkAgain(place: Place, why: string): void {
    const delayMs = place.delay.next(performance.now() - place.startedAt)
    notices.write('warn', `portico: ${why}; ${delayMs === 0 ? 'another one starts' : `another one starts in ${delayMs} ms`}`)
    place.timer = setTimeout(() => this.#fork(place), delayMs)
  }

  #check(): void {
    for (const place of this.#places) {
      if (!place.worker || !place.isListening) continue
      if (place.unanswered >= MAX_UNANSWERED && !isDebugged()) {
        this.#kill(place, `it did not react for ${(MAX_UNANSWERED * CHECK_MS) / 1000} s`)
      } else {
        // Counted by questions and not by the clock, because this process may have been stopped, too.
        place.unanswered++
        sendTo<ToWorker>(place.worker, { kind: 'check' })
      }
    }
  }

  #kill(place: Place, reason: string): void {
    place.killedFor = reason
    place.worker?.process.kill('SIGKILL')
  }

  #killAll(): void {
    for (const place of this.#places) place.worker?.process.kill('SIGKILL')
  }

  #tellState(): void {
    const state = { wanted: this.#places.length, running: this.#running }
    for (const { worker } of this.#places) if (worker) sendTo<ToWorker>(worker, { kind: 'state', state })
  }
}

/** A person looks at a worker that stands at a breakpoint. */
const isDebugged = (): boolean => process.execArgv.some((option) => option.startsWith('--inspect'))

const ended = (worker: Worker): Promise<void> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => void worker.once('exit', () => resolve()))

/** The address to listen on. All workers need the same port, and an address that cannot be used is an error of this process. */
async function findAddress(port: number, host: string): Promise<AddressInfo> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ port, host }, resolve))
  const address = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return address
}
