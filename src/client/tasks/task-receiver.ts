/** Runs requests of the server as tasks, in a session where the server may ask for it: sampling, forms and pages. */

import { randomId } from '../../base/bytes.ts'
import type { Timer } from '../../base/clock.ts'
import { isObject } from '../../base/json.ts'
import { onAbort } from '../../base/on-abort.ts'
import { Bucket } from '../../base/rate.ts'
import type { Exchange } from '../../jsonrpc/exchange.ts'
import { type ErrorObject, INTERNAL_ERROR, type Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { type KeptTask, relatedTo, requestedTask, statusText, type TaskOutcome } from '../../protocol/model/kept-task.ts'
import { isFinal } from '../../protocol/model/tasks.ts'
import type { Settings } from '../settings.ts'

/** Tasks of one server, finished ones included. No person or model answers as many. */
const MAX_TASKS = 32
/** Tasks of all servers of this process. */
const MAX_TASKS_OF_PROCESS = 256
/** Requests of one server about its tasks. */
const REQUESTS = { perSecond: 50, burst: 100 }
const USUAL_TTL_MS = 60 * 60_000
const MAX_TTL_MS = 24 * 60 * 60_000
const POLL_MS = 1000

let tasksOfProcess = 0

interface ReceivedTask extends KeptTask {
  /** Stops the handler. */
  stop: AbortController
  expiry: Timer
  /** Called when the task has ended. */
  waiting: Set<() => void>
}

export interface ReceiverEvents {
  /** The error for the server. */
  errorOf(error: unknown): ErrorObject
  /** Tells the server that a task changed. */
  notify(task: Params): void
}

/** The tasks that one session of a server started here. Other sessions cannot see them. */
export class TaskReceiver {
  readonly #settings: Settings
  readonly #events: ReceiverEvents
  readonly #tasks = new Map<string, ReceivedTask>()
  readonly #bucket: Bucket
  /** Milliseconds since 1970 when the clock of the client was 0. */
  readonly #epoch: number

  constructor(settings: Settings, events: ReceiverEvents) {
    this.#settings = settings
    this.#events = events
    const now = settings.clock.now()
    this.#bucket = new Bucket(REQUESTS, now)
    this.#epoch = Date.now() - now
    onAbort(settings.over.signal, () => {
      for (const task of [...this.#tasks.values()]) this.#remove(task, settings.over.signal.reason)
    })
  }

  /** Answers a request with a task, and runs it. */
  create(exchange: Exchange, wish: unknown, run: (signal: AbortSignal) => Promise<Params>): void {
    this.#answer(exchange, () => {
      const ttlMs = ttlIn(wish)
      this.#checkRoom()
      const now = this.#now()
      const taskId = randomId()
      const expiry = this.#settings.clock.after(ttlMs, () =>
        this.#remove(task, new McpError('ERR_TIMEOUT', `The task took longer than ${ttlMs} ms (ttl)`)),
      )
      const stop = new AbortController()
      const times = { createdAt: now, updatedAt: now, ttlMs, pollIntervalMs: POLL_MS }
      const task: ReceivedTask = { taskId, status: 'working', ...times, stop, expiry, waiting: new Set() }
      this.#tasks.set(taskId, task)
      tasksOfProcess++
      // Later, so that the server knows the task before it hears about it.
      setTimeout(() => {
        if (isFinal(task)) return
        run(stop.signal).then(
          (result) => this.#finish(task, { result }),
          (error: unknown) => this.#finish(task, { error: this.#events.errorOf(error) }),
        )
      }, 0)
      return { task: requestedTask(task), _meta: relatedTo(taskId) }
    })
  }

  /** Answers a request about tasks. */
  request(exchange: Exchange): void {
    if (exchange.method === 'tasks/result') return this.#result(exchange)
    this.#answer(exchange, () => {
      this.#spend()
      const { method, params = {} } = exchange
      switch (method) {
        case 'tasks/get':
          return requestedTask(this.#find(params))
        case 'tasks/list':
          // All tasks fit in one page.
          if (params.cursor !== undefined) throw new McpError('ERR_CURSOR_INVALID', 'The list of tasks has one page only')
          return { tasks: [...this.#tasks.values()].map(requestedTask) }
        case 'tasks/cancel':
          return this.#cancel(this.#find(params))
        default:
          throw new McpError('ERR_METHOD_NOT_FOUND', `Method not found: ${method}`)
      }
    })
  }

  /** Answers when the task has ended, as its request would have been answered. */
  #result(exchange: Exchange): void {
    let task: ReceivedTask
    try {
      this.#spend()
      task = this.#find(exchange.params ?? {})
    } catch (error) {
      return exchange.fail(this.#events.errorOf(error))
    }
    const { taskId, waiting } = task
    const tell = (): void => {
      const { outcome, statusMessage = 'The task has ended' } = task
      if (!outcome) exchange.fail({ code: INTERNAL_ERROR, message: statusMessage })
      else if ('error' in outcome) exchange.fail(outcome.error)
      else exchange.answer({ ...outcome.result, _meta: { ...(outcome.result._meta as Params | undefined), ...relatedTo(taskId) } })
    }
    if (isFinal(task)) return tell()
    waiting.add(tell)
    exchange.onAborted(() => waiting.delete(tell))
  }

  #cancel(task: ReceivedTask): Params {
    if (isFinal(task)) throw new McpError('ERR_INVALID_PARAMS', `The task cannot be cancelled: it is already ${task.status}`)
    const reason = 'The server cancelled the task'
    this.#end(task, { status: 'cancelled', statusMessage: reason })
    task.stop.abort(new DOMException(reason, 'AbortError'))
    return requestedTask(task)
  }

  #finish(task: ReceivedTask, outcome: TaskOutcome): void {
    if (isFinal(task)) return
    const message = 'error' in outcome ? { statusMessage: statusText(outcome.error.message) } : {}
    this.#end(task, { status: 'error' in outcome ? 'failed' : 'completed', outcome, ...message })
  }

  #end(task: ReceivedTask, change: Partial<KeptTask>): void {
    Object.assign(task, change, { updatedAt: this.#now() })
    for (const tell of task.waiting) tell()
    task.waiting.clear()
    this.#events.notify(requestedTask(task))
  }

  #remove(task: ReceivedTask, reason: unknown): void {
    if (!this.#tasks.delete(task.taskId)) return
    tasksOfProcess--
    task.expiry.cancel()
    if (isFinal(task)) return
    Object.assign(task, { status: 'cancelled', statusMessage: 'The time of the task is over' })
    for (const tell of task.waiting) tell()
    task.stop.abort(reason)
  }

  /** Throws the same error for a task that has expired, and for one that never existed. */
  #find({ taskId }: Params): ReceivedTask {
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId) : undefined
    if (!task) throw new McpError('ERR_INVALID_PARAMS', 'Task not found. It may have expired')
    return task
  }

  #checkRoom(): void {
    const max = this.#tasks.size >= MAX_TASKS ? MAX_TASKS : tasksOfProcess >= MAX_TASKS_OF_PROCESS ? MAX_TASKS_OF_PROCESS : undefined
    if (max !== undefined) throw new McpError('ERR_LIMIT', `Too many tasks: at most ${max}, finished tasks that are kept included`)
  }

  #spend(): void {
    const retryAfterMs = this.#bucket.take(this.#settings.clock.now())
    if (retryAfterMs > 0)
      throw new McpError('ERR_RATE_LIMITED', 'Too many requests about tasks', { data: { reason: 'rate-limited', retryAfterMs } })
  }

  #now(): number {
    return Math.round(this.#epoch + this.#settings.clock.now())
  }

  #answer(exchange: Exchange, run: () => Params): void {
    try {
      exchange.answer(run())
    } catch (error) {
      exchange.fail(this.#events.errorOf(error))
    }
  }
}

function ttlIn(wish: unknown): number {
  const ttl = isObject(wish) ? (wish.ttl ?? USUAL_TTL_MS) : undefined
  if (typeof ttl === 'number' && ttl >= 0) return Math.min(MAX_TTL_MS, Math.max(1, Math.round(ttl)))
  throw new McpError('ERR_INVALID_PARAMS', 'params.task must be an object; its ttl is a number of milliseconds')
}
