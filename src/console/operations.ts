/** Operations that may take long. Their progress and their results are events, and can be fetched for a while. */

import { randomUUID } from 'node:crypto'
import { McpError, type Progress } from '../client/index.ts'
import type { NameOf, OperationKind, OperationResults, OperationView } from './api.ts'
import { conflict, errorReply, isUnexpected, notFound, tooMany } from './errors.ts'
import type { EventLog } from './event-log.ts'
import type { ConsoleLimits } from './limits.ts'

/** What a running operation can use. */
export interface Running {
  id: string
  signal: AbortSignal
  onProgress(progress: Progress): void
}

interface Operation {
  view: OperationView
  stop: AbortController
  /** Resolves when it has ended. Never rejects. */
  ended: Promise<void>
}

export interface OperationsOptions {
  limits: Pick<ConsoleLimits, 'maxOperations' | 'maxEnded' | 'maxResultBytes'>
  events: EventLog
  onError(error: unknown): void
}

export interface NewOperation<Kind extends OperationKind> {
  kind: Kind
  target: NameOf
  /** Questions about this server belong to it. */
  server?: string | undefined
  /** Chosen by the page. Default: a new one. */
  id?: string | undefined
  run(running: Running): Promise<OperationResults[Kind]>
}

export class Operations {
  readonly #options: OperationsOptions
  /** In the order of their start. */
  readonly #all = new Map<string, Operation>()
  #running = 0
  #resultBytes = 0

  constructor(options: OperationsOptions) {
    this.#options = options
  }

  /** @throws ApiError 409 for an id that is in use, 429 if too many run */
  start<Kind extends OperationKind>({ kind, target, server, id = randomUUID(), run }: NewOperation<Kind>): OperationView {
    const { maxOperations } = this.#options.limits
    if (this.#all.has(id)) throw conflict(`An operation has the id ${JSON.stringify(id)} already`)
    if (this.#running >= maxOperations) throw tooMany(`${maxOperations} operations run already (maxOperations): wait, or cancel one`)
    const stop = new AbortController()
    const view: OperationView = { id, kind, target, ...(server !== undefined && { server }), state: 'running', startedAt: Date.now() }
    const operation: Operation = { view, stop, ended: Promise.resolve() }
    this.#all.set(id, operation)
    this.#running++
    this.#publish(operation)
    operation.ended = this.#run(operation, run)
    return shortView(view)
  }

  /** The operation that uses a server now. Undefined if no operation uses the server, or several do. */
  usingServer(server: string): string | undefined {
    const found = [...this.#all.values()].filter(({ view }) => view.state === 'running' && view.server === server)
    return found.length === 1 ? found[0]?.view.id : undefined
  }

  /** Adds time that a running operation waited for the person, and whether the answer was no. */
  waited(id: string, ms: number, isDeclined: boolean): void {
    const operation = this.#all.get(id)
    if (operation?.view.state !== 'running') return
    operation.view.waitedMs = (operation.view.waitedMs ?? 0) + ms
    if (isDeclined) operation.view.isDeclined = true
  }

  list(): OperationView[] {
    return [...this.#all.values()].map(({ view }) => shortView(view))
  }

  /** With its result. @throws ApiError 404 */
  get(id: string): OperationView {
    return this.#find(id).view
  }

  /** @throws ApiError 404, or 409 if it has ended */
  cancel(id: string): void {
    const { view, stop } = this.#find(id)
    if (view.state !== 'running') throw conflict(`The operation has ended already: ${view.state}`)
    stop.abort(new McpError('ERR_CLOSED', 'Cancelled in the console'))
  }

  /** Cancels everything. Resolves when it has ended. */
  async close(): Promise<void> {
    const all = [...this.#all.values()]
    for (const { stop } of all) stop.abort(new McpError('ERR_CLOSED', 'The console was closed'))
    await Promise.all(all.map(({ ended }) => ended))
  }

  #find(id: string): Operation {
    const found = this.#all.get(id)
    if (!found) throw notFound(`No operation has the id ${JSON.stringify(id)}. Results are kept for a while only`)
    return found
  }

  async #run(operation: Operation, run: (running: Running) => Promise<unknown>): Promise<void> {
    const { view, stop } = operation
    const onProgress = (progress: Progress): void => {
      if (view.state !== 'running') return
      view.progress = progress
      this.#publish(operation)
    }
    try {
      const result = await run({ id: view.id, signal: stop.signal, onProgress })
      this.#keep(view, result)
    } catch (error) {
      if (!stop.signal.aborted && isUnexpected(error)) this.#options.onError(error)
      view.state = stop.signal.aborted ? 'cancelled' : 'failed'
      view.error = errorReply(stop.signal.aborted ? stop.signal.reason : error).body.error
    }
    view.endedAt = Date.now()
    this.#running--
    this.#publish(operation)
    this.#forgetOldest()
  }

  #keep(view: OperationView, result: unknown): void {
    const { maxResultBytes } = this.#options.limits
    const resultBytes = Buffer.byteLength(JSON.stringify(result ?? null))
    if (resultBytes > maxResultBytes)
      throw new McpError('ERR_LIMIT', `The result has ${resultBytes} bytes; the console keeps at most ${maxResultBytes} (maxResultBytes)`)
    Object.assign(view, { state: 'done', result: result ?? null, resultBytes })
    this.#resultBytes += resultBytes
  }

  #forgetOldest(): void {
    const { maxEnded, maxResultBytes } = this.#options.limits
    const ended = [...this.#all.values()].filter(({ view }) => view.state !== 'running')
    let left = ended.length
    for (const { view } of ended) {
      if (left <= maxEnded && this.#resultBytes <= maxResultBytes) return
      this.#all.delete(view.id)
      this.#resultBytes -= view.resultBytes ?? 0
      left--
    }
  }

  /** A large result is left out. */
  #publish({ view }: Operation): void {
    this.#options.events.publish('operation', view, shortView(view))
  }
}

const shortView = ({ result: _, ...view }: OperationView): OperationView => view
