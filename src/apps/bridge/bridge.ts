/**
 * The bridge between a view and its host: a state machine without a DOM. It checks and bounds everything that a view sends, and gives
 * the view only what the dialect allows in each state.
 */

import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { isObject } from '../../base/json.ts'
import { Bucket } from '../../base/rate.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { APPS_REVISION } from '../../revisions/apps-revision.ts'
import { type AppBridgeOptions, type AppParams, AppRefusal, type AppState, capabilitiesOf } from './bridge-options.ts'
import { type AppLimits, DEFAULT_APP_LIMITS } from './limits.ts'
import { jsonSize } from './measure.ts'
import type { AppNotifications, AppRequests, DisplayMode, HostContext, HostNotifications } from './messages.ts'
import { READ_NOTIFICATION, READ_REQUEST } from './params.ts'
import { ToolFeed } from './tool-feed.ts'

type Id = string | number

const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
/** The code of the dialect for everything that the host refuses. It stays between the view and the host. */
const REFUSED = -32000

/** Requests that a view may send before it is ready. */
const EARLY: ReadonlySet<string> = new Set(['ui/initialize', 'ping'])
/** Requests that need a decision. */
const DECIDED: ReadonlySet<string> = new Set(['tools/call', 'resources/read', 'ui/open-link', 'ui/message', 'ui/update-model-context'])

/**
 * Talks with one view. Give it every message of the view's frame, and send what it gives to `send` to that frame only.
 *
 * @example
 * const bridge = new AppBridge({ send: (message) => frame.postMessage(message, origin), handlers, info })
 * addEventListener('message', ({ source, data }) => source === frame && bridge.receive(data))
 * bridge.toolInput({ city: 'Oslo' })
 * bridge.toolResult(result)
 */
export class AppBridge {
  readonly #options: AppBridgeOptions
  readonly #limits: AppLimits
  readonly #clock: Clock
  readonly #bucket: Bucket
  readonly #pending = new Map<Id, AbortController>()
  readonly #tool: ToolFeed
  #state: AppState = 'new'
  #context: HostContext
  #modes: readonly DisplayMode[] | undefined
  #refusals = 0
  #teardown: { id: number; timer: Timer; done(): void; isDone: Promise<void> } | undefined

  constructor(options: AppBridgeOptions) {
    checkMembers('AppBridge', options, { send: 1, handlers: 1, info: 1, context: 1, sandbox: 1, limits: 1, clock: 1 })
    this.#options = options
    this.#limits = withDefaults(DEFAULT_APP_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
    this.#context = options.context ?? {}
    const { messagesPerSecond: perSecond, messageBurst: burst } = this.#limits
    this.#bucket = new Bucket({ perSecond, burst }, this.#clock.now())
    this.#tool = new ToolFeed((method, params) => this.#notify(method, params))
  }

  /** The state of the app. */
  get state(): AppState {
    return this.#state
  }

  /** What the view knows of its surroundings. */
  get context(): HostContext {
    return this.#context
  }

  /**
   * Takes a message of the view. It may be anything.
   * @example
   * addEventListener('message', ({ source, data }) => source === frame && bridge.receive(data))
   */
  receive(message: unknown): void {
    if (this.#state === 'ended') return
    if (this.#bucket.take(this.#clock.now()) > 0)
      return this.end(`It sent more than ${this.#limits.messagesPerSecond} messages a second (messagesPerSecond)`)
    const { maxMessageChars } = this.#limits
    const isWhole = jsonSize(message, maxMessageChars) !== undefined
    if (!isObject(message) || message.jsonrpc !== '2.0') return
    const { id, method } = message
    if (method === undefined) return isWhole ? this.#takeAnswer(message) : undefined
    if (typeof method !== 'string' || method.startsWith('ui/notifications/sandbox-')) return
    const params = message.params === undefined ? {} : message.params
    if (id === undefined) return isWhole && isObject(params) ? this.#takeNotification(method, params) : undefined
    if (!isId(id)) return
    if (!isWhole)
      return this.#fail(id, INVALID_REQUEST, `Expected a message of JSON with at most ${maxMessageChars} characters (maxMessageChars)`)
    if (!isObject(params)) return this.#fail(id, INVALID_PARAMS, 'Expected params to be an object')
    this.#takeRequest(id, method, params)
  }

  /**
   * The arguments so far, while the model writes them. Ignored once the complete arguments are there.
   * @example
   * bridge.toolInputPartial({ city: 'Os' })
   */
  toolInputPartial(args: Record<string, unknown>): void {
    this.#tool.partial(args)
  }

  /**
   * The complete arguments of the call that opened the view.
   * @example
   * bridge.toolInput({ city: 'Oslo' })
   */
  toolInput(args: Record<string, unknown>): void {
    this.#tool.input(args)
  }

  /**
   * The result of the call that opened the view. It must come after the arguments.
   * @example
   * bridge.toolResult(await client.call('forecast', { city: 'Oslo' }))
   */
  toolResult(result: CallToolResult): void {
    this.#tool.result(result)
  }

  /**
   * The call that opened the view has no result.
   * @example
   * bridge.toolCancelled('You stopped it')
   */
  toolCancelled(reason?: string): void {
    this.#tool.cancelled(reason)
  }

  /**
   * Tells the view what changed around it. A display mode that the view does not support is refused with ERR_UNSUPPORTED.
   * @example
   * bridge.changeContext({ theme: 'dark' })
   */
  changeContext(changes: HostContext): void {
    const { displayMode } = changes
    if (displayMode !== undefined && this.#modes && !this.#modes.includes(displayMode))
      throw new McpError('ERR_UNSUPPORTED', `The view does not support the display mode ${displayMode}`)
    this.#context = { ...this.#context, ...changes }
    // Before, the view gets the whole context with the answer to its first request.
    if (this.#state !== 'new') this.#tool.context(changes)
  }

  /**
   * Lets the view finish, at most for `teardownMs`, and ends the bridge. Remove the frame when it resolves.
   * @example
   * await bridge.teardown('The view was closed')
   * frame.remove()
   */
  teardown(reason: string): Promise<void> {
    if (this.#teardown) return this.#teardown.isDone
    // Before it is ready nothing may be sent to the view.
    if (this.#state !== 'ready') {
      this.end(reason)
      return Promise.resolve()
    }
    let done = (): void => {}
    const isDone = new Promise<void>((resolve) => {
      done = resolve
    })
    const timer = this.#clock.after(this.#limits.teardownMs, () => this.end(reason))
    this.#teardown = { id: 1, timer, done, isDone }
    this.#enter('ending')
    this.#options.send({ jsonrpc: '2.0', id: 1, method: 'ui/resource-teardown', params: { reason } })
    return isDone
  }

  /**
   * Ends the bridge at once: open requests are cancelled, nothing more is sent.
   * @example
   * bridge.end('The server is gone')
   */
  end(reason: string): void {
    if (this.#state === 'ended') return
    this.#enter('ended')
    for (const cancel of this.#pending.values()) cancel.abort()
    this.#pending.clear()
    this.#teardown?.timer.cancel()
    this.#options.handlers.onEnd?.(reason)
    this.#teardown?.done()
  }

  #enter(state: AppState): void {
    this.#state = state
    this.#options.handlers.onState?.(state)
  }

  #takeAnswer({ id, result, error }: Record<string, unknown>): void {
    if (this.#state === 'ending' && id === this.#teardown?.id && (result !== undefined || error !== undefined)) this.end('It finished')
  }

  #takeNotification(method: string, params: Record<string, unknown>): void {
    const { handlers } = this.#options
    const read = <Method extends keyof AppNotifications>(name: Method): AppNotifications[Method] | undefined =>
      method === name ? READ_NOTIFICATION[name](params) : undefined
    if (method === 'ui/notifications/initialized') {
      if (this.#state !== 'initializing') return
      this.#enter('ready')
      return this.#tool.open()
    }
    const cancelled = read('notifications/cancelled')
    if (cancelled) return this.#cancel(cancelled.requestId)
    if (this.#state !== 'ready') return
    const size = read('ui/notifications/size-changed')
    if (size) return handlers.onSize?.(size)
    const log = read('notifications/message')
    if (log && jsonSize(log, this.#limits.maxLogChars) !== undefined) return handlers.onLog?.(log)
    if (read('ui/notifications/request-teardown')) handlers.onCloseWanted?.()
  }

  #cancel(id: Id): void {
    this.#pending.get(id)?.abort()
    this.#pending.delete(id)
  }

  #takeRequest(id: Id, method: string, given: Record<string, unknown>): void {
    if (!Object.hasOwn(READ_REQUEST, method)) return this.#fail(id, METHOD_NOT_FOUND, `This host has no method ${method.slice(0, 100)}`)
    const name = method as keyof AppRequests
    if (this.#state !== 'ready' && !EARLY.has(name))
      return this.#fail(id, INVALID_REQUEST, `The view is not initialized: ${name} was not done`)
    const params = READ_REQUEST[name](given)
    if (params === undefined) return this.#fail(id, INVALID_PARAMS, `The params of ${name} do not have the expected form`)
    if (this.#pending.has(id)) return this.#fail(id, INVALID_REQUEST, 'Another request with this id is not answered yet')
    if (name === 'ping') return this.#answer(id, {})
    if (name === 'ui/initialize') return this.#initialize(id, params as AppParams<'ui/initialize'>)
    if (name === 'ui/request-display-mode') return this.#answer(id, { mode: this.#switchMode((params as { mode: DisplayMode }).mode) })
    this.#decide(id, name, params)
  }

  #initialize(id: Id, { appCapabilities }: AppParams<'ui/initialize'>): void {
    if (this.#state !== 'new') return this.#fail(id, INVALID_REQUEST, 'The view is initialized already')
    this.#modes = appCapabilities.availableDisplayModes
    this.#enter('initializing')
    const { info } = this.#options
    this.#answer(id, {
      protocolVersion: APPS_REVISION,
      hostInfo: info,
      hostCapabilities: capabilitiesOf(this.#options),
      hostContext: this.#context,
    } satisfies AppRequests['ui/initialize']['result'])
  }

  /** Only modes that both sides declared. */
  #switchMode(wanted: DisplayMode): DisplayMode {
    const { displayMode: current = 'inline', availableDisplayModes = [] } = this.#context
    const { setDisplayMode } = this.#options.handlers
    if (!setDisplayMode || !this.#modes?.includes(wanted) || !availableDisplayModes.includes(wanted)) return current
    const displayMode = setDisplayMode(wanted)
    this.#context = { ...this.#context, displayMode }
    return displayMode
  }

  #decide(id: Id, name: keyof AppRequests, params: object): void {
    const handler = this.#handlerOf(name)
    if (!handler) return this.#fail(id, METHOD_NOT_FOUND, `This host does not offer ${name}`)
    const { maxPending, maxRefusals, maxContextChars } = this.#limits
    if (this.#pending.size >= maxPending)
      return this.#fail(id, REFUSED, `More than ${maxPending} requests are not answered yet (maxPending)`)
    const isForModel = name === 'ui/message' || name === 'ui/update-model-context'
    if (isForModel && jsonSize(params, maxContextChars) === undefined)
      return this.#fail(id, REFUSED, `Expected at most ${maxContextChars} characters (maxContextChars)`)
    if (this.#refusals >= maxRefusals) return this.#fail(id, REFUSED, `${maxRefusals} requests in a row were refused (maxRefusals)`)
    const cancel = new AbortController()
    this.#pending.set(id, cancel)
    void this.#run(id, cancel, ASKED.has(name), () => handler(params as never, cancel.signal))
  }

  #handlerOf(name: keyof AppRequests): ((params: never, signal: AbortSignal) => Promise<unknown>) | undefined {
    const { callTool, readResource, openLink, sendMessage, updateModelContext } = this.#options.handlers
    switch (DECIDED.has(name) && name) {
      case 'tools/call':
        return callTool
      case 'resources/read':
        return readResource
      case 'ui/open-link':
        return openLink
      case 'ui/message':
        return sendMessage
      case 'ui/update-model-context':
        return updateModelContext
      default:
        return undefined
    }
  }

  async #run(id: Id, cancel: AbortController, isAsked: boolean, work: () => Promise<unknown>): Promise<void> {
    /** Cancelled requests are not answered, and their id may be in use again. */
    const isOpen = (): boolean => this.#pending.get(id) === cancel && this.#pending.delete(id)
    try {
      const result = await work()
      // Other requests may succeed without a question.
      if (isAsked) this.#refusals = 0
      if (isOpen()) this.#answer(id, isObject(result) ? result : {})
    } catch (error) {
      const isRefused = error instanceof AppRefusal
      if (isRefused || (isAsked && cancel.signal.aborted)) this.#refusals++
      if (isOpen()) this.#fail(id, isRefused ? REFUSED : INTERNAL_ERROR, error instanceof Error ? error.message : 'It failed')
    }
  }

  #notify(method: keyof HostNotifications, params: object): void {
    if (this.#state === 'ready') this.#options.send({ jsonrpc: '2.0', method, params })
  }

  #answer(id: Id, result: object): void {
    this.#options.send({ jsonrpc: '2.0', id, result })
  }

  #fail(id: Id, code: number, message: string): void {
    this.#options.send({ jsonrpc: '2.0', id, error: { code, message } })
  }
}

const isId = (id: unknown): id is Id => (typeof id === 'string' && id.length <= 200) || (typeof id === 'number' && Number.isSafeInteger(id))

/** The person is asked about each of these. Their success is a yes, and cancelling one takes a question away. */
const ASKED: ReadonlySet<keyof AppRequests> = new Set<keyof AppRequests>(['ui/open-link', 'ui/message'])
