/** The host's face: many servers behind one catalog, and nothing done with them but through its gate. */

import { McpError } from '../protocol/errors.ts'
import type { CompleteParams, Completion } from '../protocol/model/completion.ts'
import type { GetPromptResult } from '../protocol/model/prompts.ts'
import type { ReadResourceResult } from '../protocol/model/resources.ts'
import type { CallToolResult } from '../protocol/model/tools.ts'
import type { UseOptions } from './actions/action-request.ts'
import { callTool, complete, getPrompt, readResource, subscribe, toolRequest } from './actions/uses.ts'
import type { Review } from './approval/review.ts'
import type { ReviewQueue } from './approval/review-queue.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './catalog/entry.ts'
import { offerToModel, resolveModelCall } from './catalog/offer.ts'
import { type Found, ToolSearch } from './catalog/search.ts'
import { type ChatPart, runChat } from './conversation/chat/chat.ts'
import { Conversation } from './conversation/chat/conversation.ts'
import { type CallOutcome, type ChatTool, failure } from './conversation/chat/tool-call.ts'
import type { Health } from './model/health.ts'
import { Run } from './model/run.ts'
import type { ServerSpec } from './model/server-spec.ts'
import type { Model } from './models/model.ts'
import type { HostLimits, HostOptions } from './options.ts'
import type { CompiledPolicy } from './policy/compile-policy.ts'
import { type Explanation, explain } from './policy-tools/explain.ts'
import type { RootConsent } from './roots/root-consent.ts'
import type { Broker } from './sampling/broker.ts'
import type { BudgetLeft } from './sampling/budget.ts'
import type { Fleet } from './servers/fleet.ts'
import type { HostedServer } from './servers/hosted-server.ts'
import type { HostStorage } from './services/open-storage.ts'
import type { HostServices } from './services/services.ts'

export interface HostCallOptions extends Pick<UseOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  /** The conversation it belongs to; what a person does by themselves belongs to none. */
  talk?: Talk
}

export interface ChatOptions {
  /** To go on with; a new one unless given. */
  talk?: Talk
  system?: string
  model?: Model
  signal?: AbortSignal
}

/** What the host is made of. @see createHost */
export interface HostInsides {
  parts: HostServices
  kept: HostStorage
  fleet: Fleet
  catalog: Catalog
  approvals: ReviewQueue
  broker: Broker
  roots: RootConsent
  models: readonly Model[]
  limits: Pick<HostLimits, 'maxDefinitionTokens' | 'chat'>
  favorites: readonly string[]
  policy(): CompiledPolicy
  setPolicy(policy: NonNullable<HostOptions['policy']>): Promise<void>
  server(id: string): HostedServer
  onRemoved(id: string): void
  login(id: string, signal?: AbortSignal): Promise<void>
  logout(id: string, signal?: AbortSignal): Promise<void>
}

/** How long what is under way may take to end after the servers are gone. */
const CLOSE_MS = 2_000

/** A conversation with the model, which can be gone on with. */
export class Talk {
  readonly conversation: Conversation
  readonly run: Run

  /** @see Host.talk */
  constructor(conversation: Conversation, run: Run) {
    this.conversation = conversation
    this.run = run
  }
}

export class Host {
  readonly #insides: HostInsides
  readonly #search: ToolSearch

  constructor(insides: HostInsides) {
    this.#insides = insides
    this.#search = new ToolSearch(insides.catalog)
  }

  /** Where it keeps what must outlive it. */
  get folder(): string {
    return this.#insides.kept.folder
  }

  get grants(): HostStorage['grants'] {
    return this.#insides.kept.grants
  }

  get pins(): HostStorage['pins'] {
    return this.#insides.kept.pins
  }

  get audit(): HostStorage['audit'] {
    return this.#insides.kept.audit
  }

  get models(): readonly Model[] {
    return this.#insides.models
  }

  /** Secrets that configurations refer to. */
  secrets(): ReturnType<HostStorage['vault']> {
    return this.#insides.kept.vault()
  }

  specs(): ServerSpec[] {
    return this.#insides.fleet.all().map(({ spec }) => spec)
  }

  health(): Record<string, Health> {
    const { fleet, server } = this.#insides
    return Object.fromEntries(fleet.ids().map((id) => [id, server(id).health]))
  }

  /** Makes these the servers there are. What stayed the same is not touched. */
  async configure(specs: readonly ServerSpec[]): Promise<void> {
    const { fleet, onRemoved } = this.#insides
    const before = fleet.ids()
    const ended = fleet.configure(specs)
    for (const id of before) if (!fleet.has(id)) onRemoved(id)
    await ended
  }

  /** In the place of the one before, for whatever is decided from now on; also for questions that are open. */
  setPolicy(policy: NonNullable<HostOptions['policy']>): Promise<void> {
    return this.#insides.setPolicy(policy)
  }

  /** Resolves when it is clear of each server how it is and what of it may be used, or when the time is over. */
  async settled(timeoutMs = 30_000): Promise<void> {
    await this.#insides.fleet.settled(timeoutMs)
    await this.#insides.approvals.settled()
  }

  /** Tries a server that failed, or was refused, once more; asks again about what of it was not approved. */
  async retry(server: string): Promise<Health> {
    const { fleet, approvals, server: find } = this.#insides
    await fleet.get(server).retry()
    const { health } = find(server)
    if (health.state === 'ready' && approvals.review(find(server))) await approvals.ask(find(server))
    return health
  }

  /** What of a server somebody would have to look at before it is used; undefined when nothing. */
  review(server: string): Review | undefined {
    return this.#insides.approvals.review(this.#insides.server(server))
  }

  async approve(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#insides.approvals.ask(this.#insides.server(server), options.signal)
  }

  tools(): readonly ToolEntry[] {
    return this.#insides.catalog.tools()
  }

  prompts(): readonly PromptEntry[] {
    return this.#insides.catalog.prompts()
  }

  resources(): readonly ResourceEntry[] {
    return this.#insides.catalog.resources()
  }

  templates(): readonly TemplateEntry[] {
    return this.#insides.catalog.templates()
  }

  search(query: string, options: { limit?: number } = {}): Found[] {
    return this.#search.search(query, options)
  }

  /** Calls a tool for the person: by its name in the catalog, or by server and the server's own name. */
  async call(
    tool: string | { server: string; name: string },
    args: Readonly<Record<string, unknown>> = {},
    options: HostCallOptions = {},
  ): Promise<CallToolResult> {
    const { server, name } = this.#toolOf(tool)
    const called = await callTool(this.#insides.parts, server, name, args, this.#byPerson(options))
    if ('error' in called) throw called.error
    return called.result
  }

  async read(uri: string, options: HostCallOptions = {}): Promise<ReadResourceResult> {
    const { server, uri: own, template } = this.#ownerOf(uri)
    return readResource(this.#insides.parts, server, own, template, this.#byPerson(options))
  }

  /** Calls `listener` whenever the resource changed; resolves with what ends that. */
  async watch(uri: string, listener: (uri: string) => void, options: HostCallOptions = {}): Promise<() => void> {
    const { server, uri: own, template } = this.#ownerOf(uri)
    return subscribe(this.#insides.parts, server, own, template, () => listener(uri), this.#byPerson(options))
  }

  async prompt(
    prompt: string | { server: string; name: string },
    args: Readonly<Record<string, string>> = {},
    options: HostCallOptions = {},
  ): Promise<GetPromptResult> {
    const entry = typeof prompt === 'string' ? this.#insides.catalog.find('prompt', prompt) : { server: prompt.server, definition: prompt }
    if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No prompt is called ${JSON.stringify(prompt)}`)
    return getPrompt(this.#insides.parts, this.#insides.server(entry.server), entry.definition.name, args, this.#byPerson(options))
  }

  /**
   * Suggestions of a server for an argument that the person is typing: it goes to that server and to no other, and only
   * for what of it is in use.
   */
  async complete(server: string, params: CompleteParams, options: HostCallOptions = {}): Promise<Completion> {
    return complete(this.#insides.parts, this.#insides.server(server), params, this.#byPerson(options))
  }

  /** What would be decided about a call, and why. Nothing is asked, counted or done. */
  async explain(
    tool: string | { server: string; name: string },
    args: Readonly<Record<string, unknown>>,
    initiator: 'user' | 'model' = 'model',
  ): Promise<Explanation> {
    const { server, name } = this.#toolOf(tool)
    const { parts, policy, kept } = this.#insides
    const { action } = await parts.gate.foresee(toolRequest(server, name, () => args, { run: parts.run, initiator, chain: [] }))
    return explain(policy(), action, await kept.grants.live(parts.wallNow()))
  }

  /** A conversation to have with the model: a new one, or one that was kept. */
  talk(conversation: Conversation = new Conversation()): Talk {
    return new Talk(conversation, new Run({ conversation }))
  }

  /** Says something to the model, which may use the catalog, under the policy. Ends with exactly one `end`. */
  async *chat(said: string, options: ChatOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    const { models, parts, limits, kept } = this.#insides
    const { talk = this.talk(), model = models[0], system, signal } = options
    if (!model) throw new McpError('ERR_MODEL', 'There is no model to talk to; give createHost one')
    await kept.grants.endTurn(talk.run.id, talk.conversation.turn + 1)
    yield* runChat({
      model,
      conversation: talk.conversation,
      said,
      ...(system !== undefined && { system }),
      tools: () => this.#toolsForModel(),
      callTool: (name, args, { signal: stop }) =>
        this.#callForModel(name, args, { run: talk.run, initiator: 'model', chain: ['you', `model ${model.label}`], signal: stop }),
      limits: limits.chat,
      clock: parts.clock,
      ...(signal && { signal }),
    })
  }

  /** The conversation is over: what was granted for it is gone. */
  async endTalk(talk: Talk): Promise<void> {
    await this.#insides.kept.grants.endRun(talk.run.id)
    this.#insides.parts.usage.forget(talk.run.id)
  }

  /** Offers a server a folder to work in; the person is asked. */
  async giveRoot(server: string, folder: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#insides.roots.give(this.#insides.server(server), [folder], options.signal)
  }

  takeRoot(server: string, uri: string): boolean {
    return this.#insides.roots.take(server, uri)
  }

  rootsOf(server: string): { uri: string; name?: string }[] {
    return this.#insides.roots.of(server)
  }

  budgetLeft(server: string): Promise<BudgetLeft> {
    return this.#insides.broker.budgetLeft(server)
  }

  login(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#insides.login(server, options.signal)
  }

  logout(server: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    return this.#insides.logout(server, options.signal)
  }

  async close(): Promise<void> {
    const { fleet, catalog, roots, kept, parts } = this.#insides
    parts.gate.close()
    roots.close()
    catalog.close()
    await fleet.close()
    // What was under way has failed by now; that is written down before the log is closed.
    await parts.gate.settled(CLOSE_MS)
    await kept.audit.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #toolsForModel(): ChatTool[] {
    const { catalog, limits, favorites } = this.#insides
    const { inline, search } = offerToModel(catalog, { maxTokens: limits.maxDefinitionTokens, favorites })
    return [...inline.map(({ exposed, definition }) => ({ ...definition, name: exposed })), ...search]
  }

  /** Through the search or not, it is the same call, and decided in the same way. */
  async #callForModel(name: string, args: Record<string, unknown>, options: UseOptions): Promise<CallOutcome> {
    const { catalog, parts, server } = this.#insides
    const call = resolveModelCall(catalog, this.#search, name, args)
    if (call.kind === 'answer') return { kind: 'result', result: { content: [{ type: 'text', text: call.text }] } }
    const { entry } = call
    const called = await callTool(parts, server(entry.server), entry.definition.name, call.args, options)
    return { kind: 'result', result: 'error' in called ? failure(called.said) : called.result }
  }

  #byPerson({ talk, ...options }: HostCallOptions): UseOptions {
    return { ...options, run: talk?.run ?? this.#insides.parts.run, initiator: 'user', chain: ['you'] }
  }

  #toolOf(tool: string | { server: string; name: string }): { server: HostedServer; name: string } {
    const { catalog, server } = this.#insides
    // By its own name also what is in quarantine, so that the refusal says so.
    if (typeof tool !== 'string') return { server: server(tool.server), name: tool.name }
    const entry = catalog.find('tool', tool)
    if (!entry) throw new McpError('ERR_SERVER_UNKNOWN', `No tool is called ${JSON.stringify(tool)}`)
    return { server: server(entry.server), name: entry.definition.name }
  }

  #ownerOf(exposed: string): { server: HostedServer; uri: string; template: string | undefined } {
    const owner = this.#insides.catalog.ownerOfUri(exposed)
    if (owner.kind === 'one') {
      const { server, uri, entry } = owner
      return { server: this.#insides.server(server), uri, template: entry.kind === 'template' ? entry.definition.uriTemplate : undefined }
    }
    const why =
      owner.kind === 'none' ? 'no server offers it' : `several servers offer it: ${owner.servers.join(', ')}; name one as server+uri`
    throw new McpError('ERR_SERVER_UNKNOWN', `Cannot read ${JSON.stringify(exposed)}: ${why}`)
  }
}
