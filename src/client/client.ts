/** `Client`: one connection to one server, in any revision. */

import { onAbort } from '../base/on-abort.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { Target } from '../protocol/interfaces/link.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import { METHODS } from '../protocol/methods.ts'
import type { CompleteParams, Completion } from '../protocol/model/completion.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import type { ClientRequests, Settled } from '../protocol/model/messages.ts'
import type { GetPromptResult, Prompt } from '../protocol/model/prompts.ts'
import type { ReadResourceResult, Resource, ResourceTemplate } from '../protocol/model/resources.ts'
import type { Root } from '../protocol/model/roots.ts'
import type { CreateTaskResult, TaskWish } from '../protocol/model/tasks.ts'
import type { CallToolParams, Tool } from '../protocol/model/tools.ts'
import type { Answers } from './answer-server.ts'
import { CachedRequests } from './cached-requests.ts'
import { Completer } from './completion.ts'
import { Connection } from './connection.ts'
import type { ServerDescription } from './dialect/dialect.ts'
import type { ClientExtension } from './extension.ts'
import { MirroredParams } from './mirrored-params.ts'
import type { CallOptions, ConnectOptions } from './options.ts'
import { itemsIn, type List, listOf } from './paging.ts'
import { cancellationsSent, type Settings, settingsOf } from './settings.ts'
import type { ResumeTaskOptions, TaskCallOptions, TaskHandle, TaskState } from './tasks/task-handle.ts'
import { ToolCalls } from './tool-calls.ts'
import type { ToolResult } from './tool-results.ts'
import { type ListKind, Watching } from './watching.ts'

/**
 * A client for one server. `connect` creates it.
 *
 * @example
 * await using client = await connect('https://example.com/mcp')
 * for await (const tool of client.tools()) console.log(tool.name)
 * const result = await client.call('forecast', { city: 'Oslo' })
 */
export class Client {
  readonly #settings: Settings
  readonly #connection: Connection
  readonly #cached: CachedRequests | undefined
  readonly #calls: ToolCalls
  readonly #watching: Watching
  readonly #completer: Completer
  readonly #extensions: readonly ClientExtension[]

  private constructor(target: Target, options: ConnectOptions) {
    this.#extensions = options.use ?? []
    const mirrored = target.mirrorsHeaders ? new MirroredParams() : undefined
    this.#settings = settingsOf(options, {
      onChange: (change) => this.#onChange(change),
      onTaskNotice: (method, params) => this.#calls.notice(method, params),
      mirrored: mirrored && ((params) => mirrored.of(params)),
    })
    this.#cached = CachedRequests.of(target.key, this.#settings.clock, options, {
      request: (method, params, callOptions) => this.#connection.request(method, params, callOptions),
      hasCaching: () => this.#connection.dialect.revision.hasCaching,
    })
    this.#watching = new Watching((filter) => this.#connection.listenTo(filter))
    this.#completer = new Completer({
      clock: this.#settings.clock,
      send: (params, signal) => this.request('completion/complete', { ...params }, signal ? { signal } : {}),
    })
    this.#connection = new Connection(target, this.#settings, options, {
      wanted: () => (this.#watching.isWanted ? this.#watching.filter() : undefined),
      onReopened: () => this.#forget(),
      onPermitted: () => this.#forget(),
      onOver: () => this.#watching.end(),
    })
    this.#calls = new ToolCalls({
      settings: this.#settings,
      mirrored,
      connection: this.#connection,
      watching: this.#watching,
      list: () => this.tools().all(),
      dropList: () => this.#cached?.drop({ kind: 'tools' }),
      onChanged: () => this.#onChange({ kind: 'tools' }),
    })
  }

  /**
   * Connects to a target and finds out which revision the server uses. Most programs use `connect` of portico instead.
   *
   * @example
   * const client = await Client.connect(httpTarget('https://example.com/mcp'))
   */
  static async connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
    const { signal } = options
    signal?.throwIfAborted()
    const client = new Client(target, options)
    const unwatch = signal && onAbort(signal, () => void client.close().catch(() => {}))
    const opened = client.#connection.open().finally(() => unwatch?.())
    await opened.catch((error: unknown) => {
      throw signal?.aborted ? signal.reason : error
    })
    return client
  }

  /** The server's name, capabilities and instructions, as it describes itself. */
  get server(): Readonly<ServerDescription> {
    return this.#connection.dialect.server
  }

  /** The protocol revision in use, as a date. */
  get revision(): string {
    return this.#connection.dialect.revision.version
  }

  /** Whether the connection is closed and will not be reopened. */
  get isClosed(): boolean {
    return this.#connection.isClosed
  }

  /**
   * The tools of the server.
   *
   * @example
   * const tools = await client.tools().all()
   */
  tools(options: CallOptions = {}): List<Tool> {
    return this.#list('tools/list', options, (page, isLast) => this.#calls.learn(itemsIn<Tool>(page, 'tools'), isLast))
  }

  /**
   * The resources of the server.
   *
   * @example
   * for await (const resource of client.resources()) console.log(resource.uri)
   */
  resources(options: CallOptions = {}): List<Resource> {
    return this.#list('resources/list', options, (page) => itemsIn<Resource>(page, 'resources'))
  }

  /**
   * The resource templates of the server.
   *
   * @example
   * const templates = await client.resourceTemplates().all()
   */
  resourceTemplates(options: CallOptions = {}): List<ResourceTemplate> {
    return this.#list('resources/templates/list', options, (page) => itemsIn<ResourceTemplate>(page, 'resourceTemplates'))
  }

  /**
   * The prompts of the server.
   *
   * @example
   * const prompts = await client.prompts().all()
   */
  prompts(options: CallOptions = {}): List<Prompt> {
    return this.#list('prompts/list', options, (page) => itemsIn<Prompt>(page, 'prompts'))
  }

  /**
   * Your tasks on the server, where the revision has such a list and the server can tell its callers apart.
   *
   * @example
   * for await (const { id, status } of client.tasks()) console.log(id, status)
   */
  tasks(options: CallOptions = {}): List<TaskState> {
    const fetch = async (cursor?: string): Promise<Params> => (await this.#calls.tasks()).list(cursor, options)
    return this.#list('tasks/list', options, (page) => itemsIn<TaskState>(page, 'tasks'), fetch)
  }

  /**
   * Calls a tool. If the server runs the call as a task, the client waits for its result. If the tool fails, the result has `isError`. Structured content is validated with the tool's schema.
   *
   * @example
   * const { content, isError } = await client.call('forecast', { city: 'Oslo' }, { timeoutMs: 5000 })
   */
  call<T = unknown>(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ToolResult<T>> {
    return this.#calls.call(name, args, options) as Promise<ToolResult<T>>
  }

  /**
   * Calls a tool as a task, if the tool allows it. The handle has the status, the progress and the result. If the server answers
   * without a task, the handle is already completed.
   *
   * @example
   * const task = await client.callTask('report', { year: 2026 })
   * for await (const { status, statusMessage } of task) console.log(status, statusMessage)
   * const { content } = await task.result()
   */
  async callTask<T = unknown>(name: string, args: Record<string, unknown> = {}, options: TaskCallOptions = {}): Promise<TaskHandle<T>> {
    return (await (await this.#calls.tasks()).call(name, args, options)) as TaskHandle<T>
  }

  /**
   * Follows a task that was begun before, for example by a program that has ended. Needs the same credentials.
   *
   * @example
   * const task = await client.resumeTask(savedId, { tool: 'report' })
   * const { content } = await task.result()
   */
  async resumeTask<T = unknown>(id: string, options: ResumeTaskOptions = {}): Promise<TaskHandle<T>> {
    return (await (await this.#calls.tasks()).resume(id, options)) as TaskHandle<T>
  }

  /**
   * Reads a resource.
   *
   * @example
   * const { contents } = await client.read('note://42')
   */
  async read(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const result = await this.request('resources/read', { uri }, options)
    if (!Array.isArray(result.contents)) throw new McpError('ERR_ANSWER_INVALID', `The result of reading ${uri} has no contents`)
    return result
  }

  /**
   * Gets a prompt with its arguments filled in.
   *
   * @example
   * const { messages } = await client.prompt('review', { code: 'let x = 1' })
   */
  async prompt(name: string, args: Record<string, string> = {}, options: CallOptions = {}): Promise<GetPromptResult> {
    const result = await this.request('prompts/get', { name, arguments: args }, options)
    if (!Array.isArray(result.messages)) throw new McpError('ERR_ANSWER_INVALID', `The prompt ${JSON.stringify(name)} has no messages`)
    return result
  }

  /**
   * Suggestions for an argument while a person types. Requests in quick succession are delayed, so that only the last is
   * sent: earlier ones reject with an AbortError. Recent answers are cached.
   *
   * @example
   * const { values } = await client.complete({ ref: { type: 'ref/prompt', name: 'weather' }, argument: { name: 'city', value: 'Os' } })
   */
  complete(params: CompleteParams, options: Pick<CallOptions, 'signal'> = {}): Promise<Completion> {
    return this.#completer.complete(params, options.signal)
  }

  /**
   * Changes of a resource and of all resources below it, until the loop ends or the client is closed.
   *
   * @example
   * for await (const { uri } of client.watch('note://42')) console.log(uri, 'changed')
   */
  watch(uri: string): AsyncGenerator<{ uri: string }> {
    return this.#watching.changesOf(uri)
  }

  /**
   * Calls `listener` when a list changes. Resolves with a function that stops it, once changes are heard: a list that you
   * fetch after that is never outdated without a call.
   *
   * @example
   * const stop = await client.onChange('tools', () => refresh())
   */
  onChange(kind: ListKind, listener: () => void): Promise<() => void> {
    return this.#watching.onList(kind, listener)
  }

  /**
   * Calls `listener` when a resource, or one below it, changes. Resolves with a function that stops it.
   *
   * @example
   * const stop = await client.onResourceChange('note://', (uri) => console.log(uri, 'changed'))
   */
  onResourceChange(uri: string, listener: (uri: string) => void): Promise<() => void> {
    return this.#watching.onResource(uri, listener)
  }

  /**
   * Asks for the notifications of an extension: `member` is its name in the filter of `subscriptions/listen`. Resolves with a function that stops it.
   *
   * @example
   * const stop = await client.subscribe('rooms', ['kitchen'])
   */
  subscribe(member: string, wanted: unknown): Promise<() => void> {
    return this.#watching.onMember(member, wanted)
  }

  /**
   * Sets the minimum level of log messages. `onLog` of the connect options receives them.
   *
   * @example
   * await client.setLogLevel('warning')
   */
  setLogLevel(level: LogLevel): Promise<void> {
    return this.#connection.setLogLevel(level)
  }

  /**
   * Adds or replaces handlers for the server's questions. In a session only handlers that were declared at the start can
   * be replaced; others throw ERR_UNSUPPORTED.
   *
   * @example
   * client.answer({ elicit: ({ message }) => askPerson(message) })
   */
  answer(answers: Answers): void {
    const { dialect } = this.#connection
    this.#settings.answerer.add(answers, () => dialect.refreshCapabilities())
    if (answers.roots) dialect.announceRoots()
  }

  /**
   * Replaces the roots and notifies the server.
   *
   * @example
   * client.setRoots(['file:///home/me/project'])
   */
  setRoots(roots: readonly (string | Root)[]): void {
    this.answer({ roots })
  }

  /**
   * Continues a request that waits for a page visit, when the person says that they have finished. False when no request
   * waits for this page.
   *
   * @example
   * doneButton.onclick = () => client.completeElicitation(elicitationId)
   */
  completeElicitation(elicitationId: string): boolean {
    return this.#settings.pageVisits.complete(elicitationId)
  }

  /**
   * Checks that the server responds. Revisions without ping use `server/discover`.
   *
   * @example
   * await client.ping({ timeoutMs: 1000 })
   */
  async ping(options: CallOptions = {}): Promise<void> {
    await this.#connection.ping(options)
  }

  /**
   * Sends any request of the protocol or of an extension. Cacheable results may come from the cache.
   *
   * @example
   * const { tools } = await client.request('tools/list', {})
   */
  request(method: 'tools/call', params: Params & CallToolParams & Required<TaskWish>, options?: CallOptions): Promise<CreateTaskResult>
  request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]['params'],
    options?: CallOptions,
  ): Promise<Settled<ClientRequests[Method]['result']>>
  request(method: string, params?: Params, options?: CallOptions): Promise<Params>
  request(method: string, params: Params = {}, options: CallOptions = {}): Promise<Params> {
    for (const extension of this.#extensions) {
      const { server, revision } = this.#connection.dialect
      const send = (given: Params): Promise<Params> => this.#connection.request(method, given, options)
      const answer = extension.request(method, params, { server, revision, send })
      if (answer) return answer
    }
    if (method === 'tools/call') return this.#calls.request(params, options)
    const cached = METHODS.get(method)?.isCacheable ? this.#cached : undefined
    return cached ? cached.request(method, params, options) : this.#connection.request(method, params, options)
  }

  /**
   * Sends a notification of an extension, which names it in `sends`. Only sessions have such notifications.
   *
   * @example
   * await client.notify('notifications/com.example/seen', { id: 7 })
   */
  async notify(method: string, params: Params = {}): Promise<void> {
    const { dialect } = this.#connection
    for (const extension of this.#extensions) {
      const checked = await extension.notification?.(method, params, dialect)
      if (!checked) continue
      if (this.#settings.over.signal.aborted) throw new McpError('ERR_CLOSED', 'The client is closed')
      return dialect.notify(method, checked)
    }
    throw new McpError('ERR_UNSUPPORTED', `No extension of this client sends ${method}; name it in "sends" of clientExtension`)
  }

  /**
   * Closes the connection. Open requests fail with ERR_CLOSED.
   *
   * @example
   * await client.close()
   */
  async close(): Promise<void> {
    await cancellationsSent(this.#settings)
    await this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #list<Item>(
    method: string,
    options: CallOptions,
    itemsOf: (page: Params, isLast: boolean) => Item[],
    fetch = (cursor?: string): Promise<Params> => this.request(method, cursor === undefined ? {} : { cursor }, options),
  ): List<Item> {
    return listOf({
      method,
      itemsOf,
      limits: this.#settings.limits,
      fetch,
      onWarning: this.#settings.onWarning,
    })
  }

  #onChange(change: Change): void {
    this.#cached?.drop(change)
    if (change.kind === 'tools') this.#calls.forget()
    this.#completer.forget()
    this.#watching.tell(change)
  }

  /** Drops everything that is known about the server, because it may be a different one now. */
  #forget(): void {
    for (const kind of ['tools', 'prompts', 'resources'] as const) this.#onChange({ kind })
    this.#cached?.dropUnannounced()
  }
}
