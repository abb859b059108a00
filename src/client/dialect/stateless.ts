/** The client's stateless dialect: each request contains everything that the server needs. */

import { asText } from '../../base/as-text.ts'
import type { Deadline } from '../../base/deadlines.ts'
import { isObject } from '../../base/json.ts'
import { type Id, type NotificationMessage, numbered, type Params } from '../../jsonrpc/message.ts'
import { jsonOf, writtenRequestJson } from '../../jsonrpc/write.ts'
import { McpError } from '../../protocol/errors.ts'
import { METHODS } from '../../protocol/methods.ts'
import { META } from '../../protocol/model/base.ts'
import { isLogLevel, type LogLevel, type LogMessage } from '../../protocol/model/logging.ts'
import type { SubscriptionFilter } from '../../protocol/model/subscriptions.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { OpenLink } from '../open-link.ts'
import type { SentOptions } from '../options.ts'
import { runRounds } from '../rounds.ts'
import type { Settings } from '../settings.ts'
import { type ClientDialect, changeIn, checkResultType, checkSendable, mayPass, type ServerDescription, serverInfoIn } from './dialect.ts'

export class ClientStateless implements ClientDialect {
  readonly revision: Revision
  readonly server: ServerDescription
  readonly #openLink: OpenLink
  readonly #settings: Settings
  /** The metadata of all requests, serialised once. */
  #envelope = ''
  #logLevel: LogLevel | undefined
  #listen: Listen | undefined
  /** Listen requests that are not acknowledged yet, oldest first. */
  #opening: Listen[] = []
  #isClosed = false

  constructor(openLink: OpenLink, settings: Settings, revision: Revision, server: ServerDescription) {
    this.#openLink = openLink
    this.#settings = settings
    this.revision = revision
    this.server = server
    this.#logLevel = settings.logLevel
    this.refreshCapabilities()
    openLink.onNotification = (message) => this.#onNotification(message)
    openLink.unreadableId = undefined
    openLink.mayAnswer = false
    openLink.version = revision.version
  }

  request(method: string, params: Params, options: SentOptions): Promise<Params> {
    const unsendable = checkSendable(method, this.server, this.revision)
    if (unsendable) return Promise.reject(unsendable)
    const first = this.#send(method, params, options)
    return METHODS.get(method)?.mayAsk ? this.#answering(method, first, params, options) : first
  }

  async setLogLevel(level: LogLevel): Promise<void> {
    this.#logLevel = level
    this.refreshCapabilities()
  }

  async listenTo(filter: SubscriptionFilter): Promise<void> {
    const wantsNothing = Object.values(filter).every(
      (each) => each === undefined || each === false || (Array.isArray(each) && each.length === 0),
    )
    if (wantsNothing) return this.#replace(undefined)
    await this.#open(new Listen(filter))
  }

  /** Does nothing: stateless servers ask for roots when they need them. */
  notify(method: string): void {
    throw new McpError(
      'ERR_UNSUPPORTED',
      `Servers take no ${method} in protocol revision ${this.revision.version}. Define a method instead`,
    )
  }

  announceRoots(): void {}

  refreshCapabilities(): void {
    const meta: Params = {
      [META.protocolVersion]: this.revision.version,
      [META.clientInfo]: this.#settings.info,
      [META.clientCapabilities]: statelessCapabilities(this.#settings),
    }
    if (this.#logLevel !== undefined) meta[META.logLevel] = this.#logLevel
    this.#envelope = jsonOf(meta)
  }

  close(): void {
    this.#isClosed = true
    for (const listen of [this.#listen, ...this.#opening]) listen?.controller.abort()
  }

  /** Runs rounds if the first result asks for input. */
  async #answering(method: string, first: Promise<Params>, params: Params, options: SentOptions): Promise<Params> {
    const result = await first
    if (result.resultType === 'complete' || result.resultType === undefined) return result
    const { answerer, over } = this.#settings
    const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal
    const asking = { server: this.server.info.name, signal }
    const send = (additions: Params): Promise<Params> => this.#send(method, { ...params, ...additions }, options)
    return runRounds(method, result, send, answerer, asking)
  }

  #send(method: string, params: Params, options: SentOptions): Promise<Params> {
    const write = (id: Id, token: Id | undefined): string => this.#withMeta(id, method, params, token, options.meta)
    return this.#openLink.request(method, params, write, options, (result) => this.#read(method, result))
  }

  #read(method: string, result: Params): Params {
    const fault = checkResultType(method, result, this.#settings.hasTasks)
    if (fault) throw fault
    // Every result may contain the server's description.
    const info = serverInfoIn(result)
    if (info) this.server.info = info
    return result
  }

  /** The request as JSON, with the serialised metadata inserted as text. */
  #withMeta(id: Id, method: string, params: Params, progressToken: Id | undefined, extra: Params | undefined): string {
    const extras = extra === undefined && progressToken === undefined ? '{}' : jsonOf({ ...extra, progressToken })
    const meta = extras === '{}' ? this.#envelope : `${this.#envelope.slice(0, -1)},${extras.slice(1)}`
    const json = jsonOf(params)
    return writtenRequestJson(id, method, `${json.slice(0, -1)}${json === '{}' ? '' : ','}"_meta":${meta}}`)
  }

  /** Replaces the listen request. The new one is open before the old one ends, so that no change is missed. */
  #replace(next: Listen | undefined): void {
    const older = this.#opening.splice(0, next ? this.#opening.indexOf(next) : this.#opening.length)
    if (this.#listen) older.push(this.#listen)
    this.#opening = this.#opening.filter((listen) => listen !== next)
    this.#listen = next
    for (const listen of older) {
      // Later filters contain everything that is still wanted of earlier ones.
      listen.acknowledge()
      listen.controller.abort()
    }
  }

  /** Opens a listen request and resolves when it is acknowledged. Reopens it when the server ends it. */
  async #open(listen: Listen): Promise<void> {
    this.#opening.push(listen)
    const forever = { timeoutMs: Number.POSITIVE_INFINITY, maxTotalMs: Number.POSITIVE_INFINITY, signal: listen.controller.signal }
    const write = (id: Id): string => {
      listen.id = id
      return this.#withMeta(id, 'subscriptions/listen', { notifications: listen.filter }, undefined, undefined)
    }
    const ended = this.#openLink.request('subscriptions/listen', {}, write, forever, (result) => this.#read('subscriptions/listen', result))
    const deadline = this.#limitAcknowledgement(listen)
    const { onWarning } = this.#settings
    const fail = (error: unknown): void => {
      this.#opening = this.#opening.filter((each) => each !== listen)
      listen.fail(error)
    }
    ended.then(
      () => {
        fail(new McpError('ERR_CLOSED', 'The server ended subscriptions/listen before acknowledging it'))
        this.#reopen(listen)
      },
      (error: unknown) => {
        fail(error)
        // Over HTTP each request has its own connection, so this one may break while others continue.
        if (mayPass(error)) this.#reopen(listen)
        else if (this.#listen === listen && !this.#isClosed) onWarning(notTold(error))
      },
    )
    try {
      await listen.acknowledged
    } finally {
      deadline.cancel()
    }
  }

  /** The request may stay open forever, but its acknowledgement has the timeout of an answer. */
  #limitAcknowledgement(listen: Listen): { cancel(): void } {
    const { deadlines, limits } = this.#settings
    const start = (): Deadline =>
      deadlines.set(limits.timeoutMs, () => {
        // While a person logs in, the timeout starts again.
        if (this.#openLink.isHeld) deadline = start()
        else listen.controller.abort(notAcknowledged(limits.timeoutMs))
      })
    let deadline = start()
    return { cancel: () => deadlines.clear(deadline) }
  }

  #reopen(listen: Listen, attempt = 0): void {
    if (this.#isClosed || this.#listen !== listen || this.#openLink.isClosed) return
    const { clock, onWarning } = this.#settings
    // Random waits, so that many clients of one server do not reconnect at the same moment.
    const waitMs = attempt === 0 ? REOPEN_MS : Math.min(MAX_REOPEN_MS, REOPEN_MS * 2 ** attempt) * (0.5 + Math.random() / 2)
    clock.after(waitMs, () => {
      if (this.#isClosed || this.#listen !== listen || this.#opening.length > 0 || this.#openLink.isClosed) return
      this.#open(new Listen(listen.filter)).then(
        () => this.#tellMissed(listen.filter),
        (error: unknown) => {
          if (mayPass(error)) return this.#reopen(listen, attempt + 1)
          onWarning(notTold(error))
        },
      )
    })
  }

  /** Reports all watched things as changed, because changes during the interruption are unknown. */
  #tellMissed({ toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions = [] }: SubscriptionFilter): void {
    const { onChange } = this.#settings
    if (toolsListChanged) onChange({ kind: 'tools' })
    if (promptsListChanged) onChange({ kind: 'prompts' })
    if (resourcesListChanged) onChange({ kind: 'resources' })
    for (const uri of resourceSubscriptions) onChange({ kind: 'resource', uri })
  }

  #onNotification({ method, params }: NotificationMessage): void {
    if (!this.revision.has(method)) return this.#settings.onNotice(method, params, this.revision)
    if (method === 'notifications/message') {
      if (isObject(params) && isLogLevel(params.level)) this.#settings.onLog(params as unknown as LogMessage)
      return
    }
    const subscription = numbered(isObject(params?._meta) ? params._meta[META.subscriptionId] : undefined)
    if (method === 'notifications/cancelled') return this.#onCancelled(subscription, numbered(params?.requestId))
    if (method === 'notifications/subscriptions/acknowledged') {
      const opened = this.#opening.find(({ id }) => id === subscription)
      return opened && this.#acknowledge(opened, params?.notifications)
    }
    const listen = this.#listen
    if (!listen || subscription !== listen.id) return
    const change = changeIn(method, params)
    if (change) this.#settings.onChange(change)
  }

  /** The server ends a listen request. It may name the request id or the subscription id. */
  #onCancelled(...names: unknown[]): void {
    for (const listen of [this.#listen, ...this.#opening]) {
      if (listen?.id !== undefined && names.includes(listen.id)) this.#openLink.abandon(listen.id, cancelledByServer())
    }
  }

  #acknowledge(listen: Listen, honoured: unknown): void {
    // Tasks are asked for their status anyway.
    const missing = Object.keys(listen.filter).filter((name) => name !== 'taskIds' && (!isObject(honoured) || honoured[name] === undefined))
    if (missing.length > 0) this.#settings.onWarning(`The server does not send notices for ${missing.join(', ')}`)
    this.#replace(listen)
    listen.acknowledge()
  }
}

const REOPEN_MS = 1000
const MAX_REOPEN_MS = 30_000

const notTold = (error: unknown): string => `Change notices have stopped: ${asText(error)}`

const notAcknowledged = (ms: number): McpError =>
  new McpError('ERR_TIMEOUT', `subscriptions/listen was not acknowledged within ${ms} ms (limits.timeoutMs)`)

const cancelledByServer = (): McpError => new McpError('ERR_CLOSED', 'The server cancelled subscriptions/listen')

/** One `subscriptions/listen` request. */
class Listen {
  readonly filter: SubscriptionFilter
  readonly controller = new AbortController()
  readonly acknowledged: Promise<void>
  id: Id | undefined
  acknowledge: () => void = () => {}
  fail: (error: unknown) => void = () => {}

  constructor(filter: SubscriptionFilter) {
    this.filter = filter
    this.acknowledged = new Promise((resolve, reject) => {
      this.acknowledge = resolve
      this.fail = reject
    })
    // A replaced request leaves this promise without a reader. Its rejection must not end the process.
    this.acknowledged.catch(() => {})
  }
}

/** Without sessions there are no notices about roots, so `listChanged` is not declared; and servers send no requests that could become tasks. */
export function statelessCapabilities(settings: Settings): Params {
  const { roots, tasks: _, ...rest } = settings.capabilities()
  return roots ? { ...rest, roots: {} } : rest
}
