/** The client library's face: one server, whatever it speaks. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import { onAbort } from '../base/on-abort.ts'
import type { Params } from '../jsonrpc/message.ts'
import { INVALID_PARAMS } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { McpError } from '../protocol/errors.ts'
import { METHODS } from '../protocol/methods.ts'
import type { CompleteParams, Completion } from '../protocol/model/completion.ts'
import { checkExtensions } from '../protocol/model/extensions.ts'
import type { LogLevel } from '../protocol/model/logging.ts'
import type { ClientRequests, Settled } from '../protocol/model/messages.ts'
import type { GetPromptResult, Prompt } from '../protocol/model/prompts.ts'
import type { ReadResourceResult, Resource, ResourceTemplate } from '../protocol/model/resources.ts'
import type { Root } from '../protocol/model/roots.ts'
import type { CreateTaskResult, TaskWish } from '../protocol/model/tasks.ts'
import type { CallToolParams, CallToolResult, Tool } from '../protocol/model/tools.ts'
import type { Target } from '../protocol/seams/link.ts'
import type { Change } from '../protocol/seams/ports.ts'
import type { Answers } from './answers.ts'
import { ResponseCache } from './cache.ts'
import { Completer } from './completion.ts'
import { Connection } from './connection.ts'
import type { ServerDescription } from './dialect/dialect.ts'
import { MirroredParams } from './mirrored-params.ts'
import type { CallOptions, ConnectOptions } from './options.ts'
import { type List, listOf } from './paging.ts'
import { type Settings, settingsOf } from './settings.ts'
import { badResult, OutputSchemas } from './tool-results.ts'
import { ChangeQueue, type ListKind, Watching } from './watching.ts'

/** A tool's result whose structured content is known to be a `T`, as far as the server's schema says so. */
export type ToolResult<T = unknown> = CallToolResult & { structuredContent?: T }

const STALE: Readonly<Record<Change['kind'], readonly string[]>> = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
  resource: ['resources/read'],
}

export class Client {
  readonly #target: Target
  readonly #settings: Settings
  readonly #connection: Connection
  readonly #cache: ResponseCache | undefined
  readonly #cacheScope: { server: string; partition: string }
  readonly #outputs: OutputSchemas
  /** Undefined where nothing travels beside the message. */
  readonly #mirrored: MirroredParams | undefined
  #learning: Promise<void> | undefined
  readonly #watching: Watching
  readonly #queues = new Set<ChangeQueue>()
  readonly #completer: Completer

  private constructor(target: Target, options: ConnectOptions) {
    this.#target = target
    checkExtensions(options.extensions)
    const mirrored = target.mirrorsHeaders ? new MirroredParams() : undefined
    this.#mirrored = mirrored
    this.#settings = settingsOf(options, {
      onChange: (change) => this.#onChange(change),
      mirrored: mirrored && ((params) => mirrored.of(params)),
    })
    this.#cache =
      options.cache === false
        ? undefined
        : (options.cache ?? new ResponseCache({ maxEntries: this.#settings.limits.maxCached, clock: this.#settings.clock }))
    this.#outputs = new OutputSchemas(this.#settings.onWarning)
    this.#cacheScope = { server: target.key, partition: options.cachePartition ?? crypto.randomUUID() }
    this.#watching = new Watching(this.#settings.limits.maxWatches, (filter) => this.#connection.listenTo(filter))
    this.#completer = new Completer({
      clock: this.#settings.clock,
      send: (params, signal) => this.request('completion/complete', { ...params }, signal ? { signal } : {}),
    })
    this.#connection = new Connection(target, this.#settings, options, {
      wanted: () => (this.#watching.isWanted ? this.#watching.filter() : undefined),
      onReopened: () => this.#forget(),
      onPermitted: () => this.#forget(),
      onOver: () => {
        for (const queue of this.#queues) queue.end()
      },
    })
  }

  /** Opens the connection and finds out what the server speaks. */
  static async connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
    const { signal } = options
    signal?.throwIfAborted()
    const client = new Client(target, options)
    const unwatch = signal && onAbort(signal, () => void client.close().catch(() => {}))
    try {
      await client.#connection.open()
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    } finally {
      unwatch?.()
    }
    return client
  }

  /** What the server says of itself. */
  get server(): Readonly<ServerDescription> {
    return this.#connection.dialect.server
  }

  /** The protocol revision spoken, as a date. */
  get revision(): string {
    return this.#connection.dialect.revision.version
  }

  get isClosed(): boolean {
    return this.#connection.isClosed
  }

  tools(options: CallOptions = {}): List<Tool> {
    return this.#list('tools/list', options, (page, isLast) => {
      const tools = itemsIn<Tool>(page, 'tools').filter((tool) => this.#isUsable(tool))
      this.#outputs.learn(tools, isLast)
      if (isLast) this.#mirrored?.complete()
      return tools
    })
  }

  resources(options: CallOptions = {}): List<Resource> {
    return this.#list('resources/list', options, (page) => itemsIn<Resource>(page, 'resources'))
  }

  resourceTemplates(options: CallOptions = {}): List<ResourceTemplate> {
    return this.#list('resources/templates/list', options, (page) => itemsIn<ResourceTemplate>(page, 'resourceTemplates'))
  }

  prompts(options: CallOptions = {}): List<Prompt> {
    return this.#list('prompts/list', options, (page) => itemsIn<Prompt>(page, 'prompts'))
  }

  /** Calls a tool. A failure of the tool is a result with `isError`; structured content is checked against its schema. */
  call<T = unknown>(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<ToolResult<T>> {
    return this.request('tools/call', { name, arguments: args }, options).then((result) => {
      const whole = withContent(name, result)
      if (whole.structuredContent === undefined && !this.#outputs.knows(name)) return whole as ToolResult<T>
      return this.#checkOutput(name, whole).then(() => whole as ToolResult<T>)
    })
  }

  async read(uri: string, options: CallOptions = {}): Promise<ReadResourceResult> {
    const result = await this.request('resources/read', { uri }, options)
    if (!Array.isArray(result.contents)) throw new McpError('ERR_ANSWER_INVALID', `The result of reading ${uri} has no contents`)
    return result
  }

  async prompt(name: string, args: Record<string, string> = {}, options: CallOptions = {}): Promise<GetPromptResult> {
    const result = await this.request('prompts/get', { name, arguments: args }, options)
    if (!Array.isArray(result.messages)) throw new McpError('ERR_ANSWER_INVALID', `The prompt ${JSON.stringify(name)} has no messages`)
    return result
  }

  /** Suggestions for an argument being typed. Fast repeats wait for each other; known answers come at once. */
  complete(params: CompleteParams, options: Pick<CallOptions, 'signal'> = {}): Promise<Completion> {
    return this.#completer.complete(params, options.signal)
  }

  /** Changes of one resource, for as long as the loop runs. */
  async *watch(uri: string): AsyncGenerator<{ uri: string }> {
    const queue = new ChangeQueue(() => {})
    this.#queues.add(queue)
    let stop: (() => void) | undefined
    try {
      stop = await this.#watching.onResource(uri, (changed) => queue.push(changed))
      yield* queue
    } finally {
      this.#queues.delete(queue)
      stop?.()
    }
  }

  /** Calls `listener` when a list has changed; resolves with what ends that. */
  onChange(kind: ListKind, listener: () => void): Promise<() => void> {
    return this.#watching.onList(kind, listener)
  }

  /** Calls `listener` when a resource, or one below it, has changed; resolves with what ends that. */
  onResourceChange(uri: string, listener: (uri: string) => void): Promise<() => void> {
    return this.#watching.onResource(uri, listener)
  }

  /** The least severe log message wanted from now on. */
  setLogLevel(level: LogLevel): Promise<void> {
    return this.#connection.setLogLevel(level)
  }

  /** Adds or replaces ways to answer the server's questions. A session can only replace what it began with. */
  answer(answers: Answers): void {
    const { answerer } = this.#settings
    const before = answerer.answers
    answerer.answers = { ...before, ...answers }
    try {
      this.#connection.dialect.refreshCapabilities()
    } catch (error) {
      answerer.answers = before
      throw error
    }
    if (answers.roots) this.#connection.dialect.announceRoots()
  }

  /** Gives the server other directories to work in, and tells it so. */
  setRoots(roots: readonly (string | Root)[]): void {
    this.answer({ roots })
  }

  /** The person is done with a page, though the server has not said so. False when nobody waits for that page. */
  completeElicitation(elicitationId: string): boolean {
    return this.#settings.pageVisits.complete(elicitationId)
  }

  /** Asks the server for a sign of life; in a revision without ping, for its description. */
  async ping(options: CallOptions = {}): Promise<void> {
    await this.#connection.ping(options)
  }

  /** Any request of the protocol, or of an extension. Answers that may be kept come from the cache while they are fresh. */
  request(method: 'tools/call', params: Params & CallToolParams & Required<TaskWish>, options?: CallOptions): Promise<CreateTaskResult>
  request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]['params'],
    options?: CallOptions,
  ): Promise<Settled<ClientRequests[Method]['result']>>
  request(method: string, params?: Params, options?: CallOptions): Promise<Params>
  request(method: string, params: Params = {}, options: CallOptions = {}): Promise<Params> {
    if (this.#mirrored && method === 'tools/call') return this.#callMirrored(this.#mirrored, params, options)
    const cache = METHODS.get(method)?.isCacheable ? this.#cache : undefined
    if (!cache) return this.#connection.request(method, params, options)
    const result = this.#cached(cache, method, params, options)
    return params.cursor === undefined ? result : this.#pageOr(result, cache, method)
  }

  /** A cursor that the server no longer takes makes the pages that led to it useless. */
  async #pageOr(page: Promise<Params>, cache: ResponseCache, method: string): Promise<Params> {
    try {
      return await page
    } catch (error) {
      if (error instanceof RemoteError && error.code === INVALID_PARAMS) cache.invalidate(this.#target.key, [method])
      throw error
    }
  }

  async #cached(cache: ResponseCache, method: string, params: Params, options: CallOptions): Promise<Params> {
    const known = cache.get(method, params, this.#cacheScope)
    if (known) return known
    const result = await this.#connection.request(method, params, options)
    // In a revision without caching the members mean whatever the server likes.
    if (this.#connection.dialect.revision.hasCaching) cache.put(method, params, result, this.#cacheScope)
    return result
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #list<Item>(method: string, options: CallOptions, itemsOf: (page: Params, isLast: boolean) => Item[]): List<Item> {
    return listOf({
      method,
      itemsOf,
      limits: this.#settings.limits,
      fetch: (cursor) => this.request(method, cursor === undefined ? {} : { cursor }, options),
      onWarning: this.#settings.onWarning,
    })
  }

  #isUsable(tool: Tool): boolean {
    if (typeof tool.name !== 'string' || !isObject(tool.inputSchema)) {
      this.#settings.onWarning(`A tool without a name or an input schema is left out: ${JSON.stringify(tool).slice(0, 200)}`)
      return false
    }
    const fault = this.#mirrored?.learn(tool)
    if (fault !== undefined) this.#settings.onWarning(fault)
    return fault === undefined
  }

  /** The definition of a tool says what of a call travels beside it: it must be known first, and may have changed since. */
  async #callMirrored(mirrored: MirroredParams, params: Params, options: CallOptions): Promise<Params> {
    if (!mirrored.knows(params.name)) await this.#learnTools()
    try {
      return await this.#connection.request('tools/call', params, options)
    } catch (error) {
      const mismatch = this.#connection.dialect.revision.errorCode('ERR_HEADER_MISMATCH')
      if (!(error instanceof RemoteError) || error.code !== mismatch) throw error
      const before = JSON.stringify(mirrored.of(params))
      this.#cache?.invalidate(this.#target.key, STALE.tools)
      await this.#learnTools()
      // Where the code is not reserved it may mean something else; a call that would be the same is not made twice.
      if (JSON.stringify(mirrored.of(params)) === before) throw error
      return this.#connection.request('tools/call', params, options)
    }
  }

  /** Reads the definitions of all tools, once for all who wait. A call is not stopped by a list that cannot be read. */
  #learnTools(): Promise<void> {
    this.#learning ??= this.tools()
      .all()
      .then(
        () => {},
        (error: unknown) => this.#settings.onWarning(`The tools could not be listed: ${asText(error)}`),
      )
      .finally(() => {
        this.#learning = undefined
      })
    return this.#learning
  }

  async #checkOutput(name: string, result: Params): Promise<void> {
    if (!this.#outputs.knows(name)) await this.tools().all()
    const fault = await this.#outputs.check(name, result)
    if (fault === undefined) return
    // The tool may have changed since it was listed.
    this.#onChange({ kind: 'tools' })
    await this.tools().all()
    const stillWrong = await this.#outputs.check(name, result)
    if (stillWrong !== undefined) throw badResult(name, stillWrong)
  }

  #onChange(change: Change): void {
    this.#cache?.invalidate(this.#target.key, STALE[change.kind], change.kind === 'resource' ? change.uri : undefined)
    if (change.kind === 'tools') {
      this.#outputs.forget()
      this.#mirrored?.forget()
    }
    this.#completer.forget()
    this.#watching.tell(change)
  }

  /** The server behind the connection is a new one. */
  #forget(): void {
    for (const kind of ['tools', 'prompts', 'resources'] as const) this.#onChange({ kind })
    this.#cache?.invalidate(this.#target.key, ['resources/read', 'server/discover'])
  }
}

/** Servers of long ago, and those with structured content only, leave the content out. */
function withContent(name: string, result: Params): Params {
  if (Array.isArray(result.content)) return result
  if (result.content === undefined || result.content === null) return { ...result, content: [] }
  throw new McpError(
    'ERR_ANSWER_INVALID',
    `The content of the result of tool ${JSON.stringify(name)} is a ${typeof result.content}, not a list`,
  )
}

const itemsIn = <Item>(page: Params, member: string): Item[] => {
  const list = page[member]
  if (!Array.isArray(list)) throw new McpError('ERR_ANSWER_INVALID', `A page of a list has no "${member}"`)
  return list.filter((item) => isObject(item)) as Item[]
}
