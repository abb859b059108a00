/** The public face of a host: many servers behind one catalog, and a gate before every action. */

import { McpError } from '../protocol/errors.ts'
import type { CompleteParams, Completion } from '../protocol/model/completion.ts'
import type { GetPromptResult } from '../protocol/model/prompts.ts'
import type { ReadResourceResult } from '../protocol/model/resources.ts'
import type { CallToolResult } from '../protocol/model/tools.ts'
import type { UseOptions } from './actions/action-request.ts'
import { callTool, toolRequest } from './actions/call-tool.ts'
import { complete } from './actions/complete.ts'
import { getPrompt } from './actions/get-prompt.ts'
import { type ResourceTarget, readResource, subscribe } from './actions/read-resource.ts'
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './catalog/entry.ts'
import { offerToModel, resolveModelCall } from './catalog/offer.ts'
import { type FoundTool, ToolSearch } from './catalog/search.ts'
import { type ChatPart, runChat } from './conversation/chat/chat.ts'
import { Conversation } from './conversation/chat/conversation.ts'
import { type CallOutcome, type ChatTool, failure } from './conversation/chat/tool-call.ts'
import type { Model } from './language-models/language-model.ts'
import type { Health } from './model/health.ts'
import type { Review } from './model/review.ts'
import type { ServerSpec } from './model/server-spec.ts'
import type { HostLimits } from './options.ts'
import type { GivenPolicy } from './policy/load-policy.ts'
import { type Explanation, explain } from './policy-tools/explain.ts'
import type { BudgetLeft } from './sampling/budget.ts'
import type { DirectConnection, HostedServer } from './servers/hosted-server.ts'
import type { HostServices } from './setup/host-services.ts'
import type { HostStorage } from './setup/open-storage.ts'

export interface HostCallOptions extends Pick<UseOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  /** The conversation that the action belongs to. Default: none. */
  conversation?: Conversation
}

export interface ChatOptions {
  /** The conversation to continue. Default: a new one. */
  conversation?: Conversation
  system?: string
  /** Default: the first model of the host. */
  model?: Model
  signal?: AbortSignal
}

export interface HostSettings {
  limits: Pick<HostLimits, 'maxDefinitionTokens'> & Partial<Pick<HostLimits, 'chat'>>
  /** Exposed names of tools whose definitions models always get. */
  favorites: readonly string[]
}

/** A tool or a prompt: its name in the catalog, or its server and the server's own name for it. */
type CatalogName = string | { server: string; name: string }

/** How long actions may take to end after the servers are closed. */
const CLOSE_MS = 2_000

/** Runs many servers for one person. Made by `createHost`. */
export class Host {
  readonly #services: HostServices
  readonly #settings: HostSettings
  readonly #search: ToolSearch

  constructor(services: HostServices, settings: HostSettings) {
    this.#services = services
    this.#settings = settings
    this.#search = new ToolSearch(services.catalog)
  }

  /** The folder with everything that the host stores. */
  get folder(): string {
    return this.#services.folder
  }

  get grants(): HostStorage['grants'] {
    return this.#services.grants
  }

  get pins(): HostStorage['pins'] {
    return this.#services.pins
  }

  get audit(): HostStorage['audit'] {
    return this.#services.audit
  }

  get models(): readonly Model[] {
    return this.#services.models
  }

  /** The vault with the secrets that configurations refer to. */
  secrets(): ReturnType<HostStorage['vault']> {
    return this.#services.vault()
  }

  /** The specifications of all configured servers. */
  specs(): ServerSpec[] {
    return this.#services.fleet.all().map(({ spec }) => spec)
  }

  health(): Record<string, Health> {
    return Object.fromEntries(this.#services.fleet.all().map(({ id, health }) => [id, health]))
  }

  /** Replaces the configured servers. A server with the same specification as before keeps its connection. */
  async configure(specs: readonly ServerSpec[]): Promise<void> {
    const { fleet, catalog, roots, logins } = this.#services
    const before = fleet.ids()
    const ended = fleet.configure(specs)
    for (const id of before) {
      if (fleet.find(id)) continue
      logins.forget(id)
      roots.forget(id)
      catalog.remove(id)
    }
    await ended
  }

  /** Replaces the policy for all later decisions, also about questions that are open. */
  setPolicy(policy: GivenPolicy): Promise<void> {
    return this.#services.policy.replace(policy)
  }

  /** Resolves when every server is ready or has failed, and no review is open; or after the time. */
  async settled(timeoutMs = 30_000): Promise<void> {
    await this.#services.fleet.settled(timeoutMs)
    await this.#services.reviews.settled()
  }

  /** Tries a server that failed or was refused again, and asks again about definitions that were not approved. */
  async retry(server: string): Promise<Health> {
    const { fleet, reviews } = this.#services
    await fleet.get(server).retry()
    const current = fleet.get(server)
    const { health } = current
    if (health.state === 'ready' && reviews.review(current)) await reviews.ask(current)
    return health
  }

  /** The part of a server's offering that waits for approval. Undefined if everything is approved. */
  review(server: string): Review | undefined {
    return this.#services.reviews.review(this.#services.fleet.get(server))
  }

  /**
   * Asks the person to approve the offering of a server.
   * @throws McpError ERR_DENIED
   */
  async approve(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#services.reviews.ask(this.#services.fleet.get(server), options.signal)
  }

  tools(): readonly ToolEntry[] {
    return this.#services.catalog.tools()
  }

  prompts(): readonly PromptEntry[] {
    return this.#services.catalog.prompts()
  }

  resources(): readonly ResourceEntry[] {
    return this.#services.catalog.resources()
  }

  templates(): readonly TemplateEntry[] {
    return this.#services.catalog.templates()
  }

  /** Searches the tools of all servers by words. */
  search(query: string, options: { limit?: number } = {}): FoundTool[] {
    return this.#search.search(query, options)
  }

  /**
   * Calls a tool for the person.
   * @example
   * await host.call('notes__search', { query: 'door' })
   * await host.call({ server: 'notes', name: 'search' }, { query: 'door' })
   */
  async call(tool: CatalogName, args: Readonly<Record<string, unknown>> = {}, options: HostCallOptions = {}): Promise<CallToolResult> {
    const { server, name } = this.#toolOf(tool)
    const called = await callTool(this.#services, server, name, args, this.#byPerson(options))
    if ('error' in called) throw called.error
    return called.result
  }

  /** Reads a resource for the person. */
  async read(uri: string, options: HostCallOptions = {}): Promise<ReadResourceResult> {
    return readResource(this.#services, this.#resourceOf(uri), this.#byPerson(options))
  }

  /** Calls `listener` after each change of the resource. Resolves with the function that ends the subscription. */
  async watch(uri: string, listener: (uri: string) => void, options: HostCallOptions = {}): Promise<() => void> {
    return subscribe(this.#services, this.#resourceOf(uri), () => listener(uri), this.#byPerson(options))
  }

  /** Gets a prompt for the person. */
  async prompt(prompt: CatalogName, args: Readonly<Record<string, string>> = {}, options: HostCallOptions = {}): Promise<GetPromptResult> {
    const { catalog, fleet } = this.#services
    const entry = typeof prompt === 'string' ? catalog.find('prompt', prompt) : { server: prompt.server, definition: prompt }
    if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No prompt is called ${JSON.stringify(prompt)}`)
    return getPrompt(this.#services, fleet.get(entry.server), entry.definition.name, args, this.#byPerson(options))
  }

  /** Suggestions of a server for an argument that the person is typing. The text goes to that server only. */
  async complete(server: string, params: CompleteParams, options: HostCallOptions = {}): Promise<Completion> {
    return complete(this.#services, this.#services.fleet.get(server), params, this.#byPerson(options))
  }

  /** Explains the decision about a call. Nothing is asked, counted or done. */
  async explain(tool: CatalogName, args: Readonly<Record<string, unknown>>, initiator: 'user' | 'model' = 'model'): Promise<Explanation> {
    const { server, name } = this.#toolOf(tool)
    const { gate, policy, grants, ownConversation, wallNow } = this.#services
    const request = toolRequest(server, name, () => args, { conversation: ownConversation, initiator, chain: [] })
    const { action } = await gate.evaluate(request)
    return explain(policy.current(), action, await grants.live(wallNow()))
  }

  /**
   * Sends a message to the model. The model can use the catalog, under the policy. The last part is always an `end`.
   * @example
   * const conversation = new Conversation()
   * for await (const part of host.chat('What is in my notes?', { conversation })) show(part)
   */
  async *chat(message: string, options: ChatOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    const { models, clock, grants } = this.#services
    const { conversation = new Conversation(), model = models[0], system, signal } = options
    if (!model) throw new McpError('ERR_MODEL', 'There is no model to talk to; give createHost one')
    this.#prepare(conversation)
    await grants.endTurn(conversation.id, conversation.turn + 1)
    yield* runChat({
      model,
      conversation,
      said: message,
      system,
      tools: () => this.#toolsForModel(),
      callTool: (name, args, { signal: stop }) =>
        this.#callForModel(name, args, { conversation, initiator: 'model', chain: ['you', `model ${model.label}`], signal: stop }),
      limits: this.#settings.limits.chat,
      clock,
      signal,
    })
  }

  /** Ends a conversation and all grants for it. */
  async endConversation({ id }: Conversation): Promise<void> {
    await this.#services.grants.endRun(id)
    this.#services.usage.forget(id)
  }

  /** Asks the person to grant a server a folder as a root. */
  async giveRoot(server: string, folder: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#services.roots.give(this.#services.fleet.get(server), [folder], options.signal)
  }

  /** Revokes a root. Returns false if the server does not have it. */
  takeRoot(server: string, uri: string): boolean {
    return this.#services.roots.take(server, uri)
  }

  rootsOf(server: string): { uri: string; name?: string }[] {
    return this.#services.roots.of(server)
  }

  /** What is left of the sampling budget of a server. */
  budgetLeft(server: string): Promise<BudgetLeft> {
    return this.#services.broker.budgetLeft(server)
  }

  /**
   * Asks to start or connect to a server, as the host does before it connects, and returns what a connection of your own needs, for
   * tools that examine a server. No gate decides about what you send over that connection.
   * @throws McpError ERR_DENIED, ERR_CONSENT, ERR_QUARANTINED, ERR_SECRET, ERR_CONFIG
   * @example
   * const { transport } = await host.permitDirect('notes')
   */
  async permitDirect(server: string, options: { signal?: AbortSignal } = {}): Promise<DirectConnection> {
    return this.#services.fleet.get(server).permitDirect(options.signal ?? new AbortController().signal)
  }

  /** Logs in to a server over HTTP. */
  async login(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#services.logins.login(this.#services.fleet.get(server).spec, options.signal)
  }

  /** Revokes and deletes the tokens of a server. */
  async logout(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#services.logins.logout(this.#services.fleet.get(server).spec, options.signal)
  }

  /** Closes all connections and the audit log. */
  async close(): Promise<void> {
    const { fleet, catalog, roots, gate, audit } = this.#services
    gate.close()
    roots.close()
    catalog.close()
    await fleet.close()
    // The actions under way have failed now. Their outcomes must be in the log before it is closed.
    await gate.settled(CLOSE_MS)
    await audit.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #toolsForModel(): ChatTool[] {
    const { limits, favorites } = this.#settings
    const { inline, search } = offerToModel(this.#services.catalog, { maxTokens: limits.maxDefinitionTokens, favorites })
    return [...inline.map(({ exposed, definition }) => ({ ...definition, name: exposed })), ...search]
  }

  /** A call through the tool search is decided like a direct call. */
  async #callForModel(name: string, args: Record<string, unknown>, options: UseOptions): Promise<CallOutcome> {
    const { catalog, fleet } = this.#services
    const call = resolveModelCall(catalog, this.#search, name, args)
    if (call.kind === 'answer') return { kind: 'result', result: { content: [{ type: 'text', text: call.text }] } }
    const { entry } = call
    const called = await callTool(this.#services, fleet.get(entry.server), entry.definition.name, call.args, options)
    return { kind: 'result', result: 'error' in called ? failure(called.said) : called.result }
  }

  #byPerson({ conversation = this.#services.ownConversation, ...options }: HostCallOptions): UseOptions {
    return { ...options, conversation: this.#prepare(conversation), initiator: 'user', chain: ['you'] }
  }

  /** Applies the limits of this host to a conversation that is used for the first time. */
  #prepare(conversation: Conversation): Conversation {
    conversation.flow()
    return conversation
  }

  #toolOf(tool: CatalogName): { server: HostedServer; name: string } {
    const { catalog, fleet } = this.#services
    // The server's own name also finds tools in quarantine, so that the refusal says so.
    if (typeof tool !== 'string') return { server: fleet.get(tool.server), name: tool.name }
    const entry = catalog.find('tool', tool)
    if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No tool is called ${JSON.stringify(tool)}`)
    return { server: fleet.get(entry.server), name: entry.definition.name }
  }

  #resourceOf(exposed: string): ResourceTarget {
    const { catalog, fleet } = this.#services
    const owner = catalog.ownerOfUri(exposed)
    if (owner.kind === 'one') {
      const { server, uri, entry } = owner
      return { server: fleet.get(server), uri, template: entry.kind === 'template' ? entry.definition.uriTemplate : undefined }
    }
    const why =
      owner.kind === 'none' ? 'no server offers it' : `several servers offer it: ${owner.servers.join(', ')}; name one as server+uri`
    throw new McpError('ERR_SERVER_UNKNOWN', `Cannot read ${JSON.stringify(exposed)}: ${why}`)
  }
}
