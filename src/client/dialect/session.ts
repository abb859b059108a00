/** The client's session dialect: a handshake opens a session, and the server may send requests. */

import { asText } from '../../base/as-text.ts'
import { isObject } from '../../base/json.ts'
import { orAborted, orTimeout } from '../../base/wait.ts'
import type { Exchange } from '../../jsonrpc/exchange.ts'
import { type ErrorObject, type Id, INTERNAL_ERROR, isId, type NotificationMessage, type Params } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { requestJson } from '../../jsonrpc/write.ts'
import { Declined, ERRORS, McpError } from '../../protocol/errors.ts'
import { METHODS } from '../../protocol/methods.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import type { ClientCapabilities, ServerCapabilities } from '../../protocol/model/lifecycle.ts'
import { isLogLevel, type LogLevel, type LogMessage } from '../../protocol/model/logging.ts'
import type { SubscriptionFilter } from '../../protocol/model/subscriptions.ts'
import { relatedTask } from '../../protocol/model/tasks.ts'
import { readTrace } from '../../protocol/model/trace-context.ts'
import { describeRevisions, revisionAnswered } from '../../revisions/index.ts'
import { offerHandshake, versionsIn } from '../../revisions/negotiate.ts'
import type { Revision } from '../../revisions/revision.ts'
import type { OpenLink } from '../open-link.ts'
import type { CallOptions, SentOptions } from '../options.ts'
import type { Settings } from '../settings.ts'
import type { TaskReceiver } from '../tasks/task-receiver.ts'
import { type ClientDialect, changeIn, checkSendable, type ServerDescription } from './dialect.ts'

/** A reason longer than this is cut: it is only shown and logged. */
const MAX_REASON_CHARS = 1000

type AnswerQuestion = (signal: AbortSignal) => Promise<Params>

export class ClientSession implements ClientDialect {
  readonly revision: Revision
  readonly server: ServerDescription
  readonly #openLink: OpenLink
  readonly #settings: Settings
  readonly #declared: ClientCapabilities
  readonly #subscribed = new Set<string>()
  #listening: Promise<void> = Promise.resolve()
  #receiver: Promise<TaskReceiver> | undefined

  private constructor(openLink: OpenLink, settings: Settings, revision: Revision, declared: ClientCapabilities, server: ServerDescription) {
    this.#openLink = openLink
    this.#settings = settings
    this.revision = revision
    this.#declared = declared
    this.server = server
    openLink.onRequest = (exchange) => this.#onRequest(exchange)
    openLink.onNotification = (message) => this.#onNotification(message)
    openLink.version = revision.version
    openLink.acceptsBatch = revision.hasBatches
    openLink.unreadableId = revision.omitsUnreadableId ? undefined : null
  }

  /** Opens a session. Throws ERR_VERSION_UNSUPPORTED when the server answers with an unsupported revision. */
  static async open(openLink: OpenLink, settings: Settings, options: CallOptions): Promise<ClientSession> {
    const offered = offerHandshake(settings.supported)
    if (!offered)
      throw new McpError(
        'ERR_VERSION_UNSUPPORTED',
        `The server needs a handshake, which ${describeRevisions(settings.supported)} does not have`,
      )
    const declared = settings.capabilities()
    const params = offered.downgradeParams('initialize', {
      protocolVersion: offered.version,
      capabilities: declared,
      clientInfo: settings.info,
    })
    openLink.version = undefined
    const result = await shakeHands(openLink, params, settings, options)
    const revision = revisionAnswered(result.protocolVersion)
    if (revision?.dialect !== 'session' || !settings.supported.includes(revision)) {
      throw versionError(result.protocolVersion, settings)
    }
    const session = new ClientSession(openLink, settings, revision, declaredIn(declared, revision), describe(result))
    openLink.notify('notifications/initialized')
    if (settings.logLevel && session.server.capabilities.logging) await session.setLogLevel(settings.logLevel)
    return session
  }

  request(method: string, params: Params, options: SentOptions): Promise<Params> {
    const unsendable = checkSendable(method, this.server, this.revision)
    if (unsendable) return Promise.reject(unsendable)
    const { answerer, pageVisits, limits, deadlines, over } = this.#settings
    if (!this.revision.hasUrlElicitationError || !answerer.answers.elicitUrl || !METHODS.get(method)?.mayAsk) {
      return this.#send(method, params, options)
    }
    const { signal = new AbortController().signal, maxTotalMs = limits.maxTotalMs } = options
    const visit = { server: this.server.info.name, signal, over: over.signal, maxTotalMs, deadlines }
    return pageVisits.through(() => this.#send(method, params, options), answerer, visit)
  }

  #send(method: string, params: Params, options: SentOptions): Promise<Params> {
    const fitted = this.revision.downgradeParams(method, params)
    return this.#openLink.request(
      method,
      fitted,
      (id, progressToken) => requestJson(id, method, withMeta(fitted, options.meta, progressToken)),
      options,
    )
  }

  async setLogLevel(level: LogLevel): Promise<void> {
    await this.request('logging/setLevel', { level }, {})
  }

  /** Changes of lists are sent without a subscription, on a stream that may still be opening; only resources need one. */
  listenTo(filter: SubscriptionFilter): Promise<void> {
    const wanted = new Set(filter.resourceSubscriptions)
    const step = this.#listening
      .catch(() => {})
      .then(() => (wanted.size + this.#subscribed.size > 0 ? this.#subscribeTo(wanted) : this.#hear()))
    this.#listening = step
    return step
  }

  #hear(): Promise<void> {
    const { deadlines, limits, over } = this.#settings
    return orTimeout(orAborted(this.#openLink.listening, over.signal), { deadlines, ms: limits.timeoutMs }, () => {
      throw new McpError('ERR_TIMEOUT', 'Changes are not heard in time (limits.timeoutMs)')
    })
  }

  notify(method: string, params: Params): void {
    this.#openLink.notify(method, params)
  }

  announceRoots(): void {
    if (this.#declared.roots?.listChanged) this.#openLink.notify('notifications/roots/list_changed')
  }

  refreshCapabilities(): void {
    const wanted = declaredIn(this.#settings.capabilities(), this.revision)
    const missing = (['roots', 'sampling', 'elicitation'] as const).filter((name) => wanted[name] && !this.#declared[name])
    if (missing.length > 0)
      throw new McpError('ERR_UNSUPPORTED', `This session began without ${missing.join(', ')}; pass the handlers to connect()`)
  }

  close(): void {}

  async #subscribeTo(wanted: ReadonlySet<string>): Promise<void> {
    for (const uri of [...this.#subscribed].filter((each) => !wanted.has(each))) {
      this.#subscribed.delete(uri)
      await this.request('resources/unsubscribe', { uri }, {})
    }
    for (const uri of [...wanted].filter((each) => !this.#subscribed.has(each))) {
      await this.request('resources/subscribe', { uri }, {})
      this.#subscribed.add(uri)
    }
  }

  #onRequest(exchange: Exchange): void {
    if (exchange.method === 'ping') return exchange.answer({})
    if (exchange.method.startsWith('tasks/') && this.#declared.tasks) return this.#received((receiver) => receiver.request(exchange))
    if (!this.revision.has(exchange.method))
      return exchange.fail(this.#errorOf(new McpError('ERR_METHOD_NOT_FOUND', `Method not found: ${exchange.method}`)))
    const isForm = exchange.method === 'elicitation/create'
    if (isForm && exchange.params?.mode === 'url' && !this.#declared.elicitation?.url)
      return exchange.fail(this.#errorOf(new McpError('ERR_INVALID_PARAMS', 'Elicitation mode "url" was not declared')))
    // Forms stay as they are, even if they are newer than the revision. Sampling requests lose members that the revision does not have.
    const { task: wish, ...given } = exchange.params ?? {}
    const params = isForm ? given : this.revision.downgradeParams(exchange.method, given)
    const request = { method: exchange.method, params } as InputRequest
    const task = relatedTask(exchange.params)
    const answer = async (signal: AbortSignal): Promise<Params> => {
      const result = await this.#settings.answerer.answer(request, {
        server: this.server.info.name,
        signal,
        ...(task !== undefined && { task }),
      })
      return isForm ? result : this.revision.downgradeResult(exchange.method, result)
    }
    const { aroundAnswer } = this.#settings
    const run = aroundAnswer ? this.#traced(exchange, aroundAnswer, answer) : answer
    if (wish !== undefined && this.#declared.tasks && exchange.method !== 'roots/list')
      return this.#received((receiver) => receiver.create(exchange, wish, run))
    run(exchange.signal).then(
      (result) => exchange.answer(result),
      (error: unknown) => exchange.fail(this.#errorOf(error)),
    )
  }

  #traced({ id, method, params = {} }: Exchange, around: NonNullable<Settings['aroundAnswer']>, answer: AnswerQuestion): AnswerQuestion {
    const trace = isObject(params._meta) ? readTrace(params._meta) : undefined
    return (signal) => around({ id, method, params, revision: this.revision.version, trace, signal }, () => answer(signal))
  }

  /** The code for requests of the server that run as tasks is loaded with the first of them. */
  #received(use: (receiver: TaskReceiver) => void): void {
    this.#receiver ??= import('../tasks/task-receiver.ts').then(
      ({ TaskReceiver: Receiver }) =>
        new Receiver(this.#settings, {
          errorOf: (error) => this.#errorOf(error),
          notify: (params) => this.#openLink.notify('notifications/tasks/status', params),
        }),
    )
    void this.#receiver.then(use)
  }

  #errorOf(error: unknown): ErrorObject {
    // The code in the specification's example of a rejected request.
    if (error instanceof Declined) return { code: -1, message: error.message === '' ? 'The user rejected the request' : error.message }
    if (!(error instanceof McpError)) {
      this.#settings.onWarning(`A handler failed: ${asText(error)}`)
      return { code: INTERNAL_ERROR, message: 'Internal error' }
    }
    if (!('isForPeer' in ERRORS[error.code])) {
      this.#settings.onWarning(error.message)
      return { code: INTERNAL_ERROR, message: 'Internal error' }
    }
    if (error.code === 'ERR_ANSWER_INVALID') {
      // The text may contain the person's input, which must not be sent.
      this.#settings.onWarning(error.message)
      const expected = isObject(error.data) && typeof error.data.expected === 'string' ? `: ${error.data.expected}` : ''
      return { code: INTERNAL_ERROR, message: `The answer does not match the question${expected}` }
    }
    const object: ErrorObject = { code: this.revision.errorCode(error.code), message: error.message }
    if (error.data !== undefined) object.data = error.data
    return object
  }

  #onNotification({ method, params }: NotificationMessage): void {
    if (!this.revision.has(method)) return this.#settings.onNotice(method, params, this.revision)
    const change = changeIn(method, params)
    if (change) return this.#settings.onChange(change)
    switch (method) {
      case 'notifications/progress':
        return this.#settings.onNotice(method, params, this.revision)
      case 'notifications/message':
        if (isObject(params) && isLogLevel(params.level)) this.#settings.onLog(params as unknown as LogMessage)
        return
      case 'notifications/cancelled': {
        const id = params?.requestId
        if (isId(id)) this.#openLink.cancel(id, asText(params?.reason ?? 'The server withdrew its request').slice(0, MAX_REASON_CHARS))
        return
      }
      case 'notifications/elicitation/complete': {
        const id = params?.elicitationId
        if (typeof id === 'string') this.#settings.pageVisits.complete(id)
      }
    }
  }
}

function withMeta(params: Params, meta: Params | undefined, progressToken: Id | undefined): Params | undefined {
  if (progressToken !== undefined) return { ...params, _meta: { ...meta, progressToken } }
  if (meta !== undefined) return { ...params, _meta: meta }
  for (const _ in params) return params
  return undefined
}

/** Our capabilities as this revision has them. */
const declaredIn = (capabilities: ClientCapabilities, revision: Revision): ClientCapabilities =>
  revision.downgradeParams('initialize', { capabilities }).capabilities as ClientCapabilities

async function shakeHands(openLink: OpenLink, params: Params, settings: Settings, options: CallOptions): Promise<Params> {
  try {
    return await openLink.request('initialize', params, (id) => requestJson(id, 'initialize', params), options)
  } catch (error) {
    const versions = error instanceof RemoteError ? versionsIn(error.data) : undefined
    throw versions ? versionError(versions.join(', '), settings, error) : error
  }
}

const versionError = (theirs: unknown, settings: Settings, cause?: unknown): McpError =>
  new McpError(
    'ERR_VERSION_UNSUPPORTED',
    `The server supports ${typeof theirs === 'string' ? theirs : JSON.stringify(theirs)}; this client supports ${describeRevisions(settings.supported)}`,
    { cause },
  )

function describe(result: Params): ServerDescription {
  const { serverInfo, capabilities, instructions } = result
  const info =
    isObject(serverInfo) && typeof serverInfo.name === 'string'
      ? (serverInfo as unknown as Implementation)
      : { name: 'unnamed', version: '' }
  return {
    info,
    capabilities: isObject(capabilities) ? (capabilities as ServerCapabilities) : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}
