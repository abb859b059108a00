/** The public face of a host: the use of all its servers through one catalog, with a gate before every action. */

import { McpError } from '../protocol/errors.ts'
import type { CompleteParams, Completion } from '../protocol/model/completion.ts'
import type { GetPromptResult } from '../protocol/model/prompts.ts'
import type { ReadResourceResult } from '../protocol/model/resources.ts'
import type { CallToolResult } from '../protocol/model/tools.ts'
import { fileUri } from '../skills/skill-uri.ts'
import { byModel, useOptions } from './actions/action-request.ts'
import { callTool, toolRequest } from './actions/call-tool.ts'
import { complete } from './actions/complete.ts'
import { type CatalogName, findNamed, openNamed, openResource, startForUse } from './actions/find-target.ts'
import { getPrompt } from './actions/get-prompt.ts'
import { listSkills, type SkillEntry } from './actions/list-skills.ts'
import { type HostSkill, loadSkill, readSkillFile, skillOf } from './actions/load-skill.ts'
import type { HostApp } from './actions/open-app.ts'
import { readResource, subscribe } from './actions/read-resource.ts'
import { callerForModel, toolsForModel } from './actions/tools-for-model.ts'
import { type AllowOptions, allowAlways } from './consent/gate/allow-always.ts'
import { type ChatPart, runChat } from './conversation/chat/chat.ts'
import { type ChatInput, readChatInput } from './conversation/chat/chat-input.ts'
import { Conversation, checkConversation } from './conversation/chat/conversation.ts'
import { type ModelTools, modelTools } from './conversation/chat/model-tools.ts'
import type { Model } from './language-models/language-model.ts'
import type { StoredModels } from './language-models/stored-models.ts'
import { CatalogViews } from './management/catalog-views.ts'
import type { Grant } from './model/grant.ts'
import type { ChatOptions, ExplainOptions, HostCallOptions, HostSettings, ModelToolsOptions, OpenAppOptions } from './options.ts'
import type { GivenPolicy } from './policy/load-policy.ts'
import { type Explanation, explain } from './policy-tools/explain.ts'
import { chatLimits } from './setup/derived-limits.ts'
import type { HostPolicy } from './setup/host-policy.ts'
import type { HostServices } from './setup/host-services.ts'
import type { HostStorage } from './setup/open-storage.ts'
import type { HostTask } from './tasks/host-task.ts'

/** How long actions may take to end after the servers are closed. */
const CLOSE_MS = 2_000

/**
 * Runs many servers for one person. `createHost` creates it.
 *
 * @example
 * await using host = await createHost({ config: 'servers.json', ask: asker })
 * await host.settled()
 * for (const { exposed } of host.tools()) console.log(exposed)
 */
export class Host extends CatalogViews {
  readonly #services: HostServices
  readonly #settings: HostSettings

  constructor(services: HostServices, settings: HostSettings) {
    super(services)
    this.#services = services
    this.#settings = settings
  }

  /** The folder with everything that the host stores. */
  get folder(): string {
    return this.#services.folder
  }

  /** The folder that grants for a project belong to. */
  get project(): string {
    return this.#services.project
  }

  /** The grants of the person. */
  get grants(): HostStorage['grants'] {
    return this.#services.grants
  }

  /** The approved definitions. */
  get pins(): HostStorage['pins'] {
    return this.#services.pins
  }

  /** The log of actions. `readAudit` reads it. */
  get audit(): HostStorage['audit'] {
    return this.#services.audit
  }

  /** The stored conversations. A conversation is stored when you call `save`. */
  get conversations(): HostStorage['conversations'] {
    return this.#services.conversations
  }

  /** The models that chats and sampling use: those of the options, then those that the person stored. */
  get models(): readonly Model[] {
    return this.#services.models.list()
  }

  /** The models that the person stored in the folder of the host, with their keys in the vault. */
  get storedModels(): StoredModels {
    return this.#services.models.stored
  }

  /** The policy in force. */
  get policy(): HostPolicy {
    return this.#services.policy
  }

  /**
   * The vault with the secrets that configurations refer to.
   * @example
   * await (await host.secrets()).set('notes-token', token)
   */
  secrets(): ReturnType<HostStorage['vault']> {
    return this.#services.vault()
  }

  /**
   * Replaces the policy for all later decisions, also about questions that are open.
   * @example
   * await host.setPolicy({ user: [deny('no-drop', { tool: 'drop_*' })] })
   */
  setPolicy(policy: GivenPolicy): Promise<void> {
    return this.#services.policy.replace(policy)
  }

  /**
   * Calls a tool for a model, or for the person.
   * @example
   * await host.call('notes__search', { query: 'door' }, { conversation })
   * await host.call({ server: 'notes', name: 'search' }, { query: 'door' }, { as: 'person' })
   */
  async call(tool: CatalogName, args: Readonly<Record<string, unknown>> = {}, options: HostCallOptions = {}): Promise<CallToolResult> {
    const { server, name } = await openNamed(this.#services, 'tool', tool, options)
    const called = await callTool(this.#services, server, name, args, useOptions(this.#services, options))
    if ('error' in called) throw called.error
    return called.result
  }

  /**
   * Calls a tool as a task, if the tool and its server allow it. The host decides and asks as for any call. Resolves when the server has
   * begun the task, which then goes on after the host is closed: the next host with this folder follows it. `signal` ends the start only.
   * @example
   * const task = await host.callTask('reports__yearly', { year: 2026 }, { as: 'person' })
   * const { content } = await task.result()
   */
  async callTask(tool: CatalogName, args: Readonly<Record<string, unknown>> = {}, options: HostCallOptions = {}): Promise<HostTask> {
    const { server, name } = await openNamed(this.#services, 'tool', tool, options)
    return this.#services.tasks.start(server, name, args, useOptions(this.#services, options))
  }

  /**
   * The tasks of this folder, the newest first: also those that other processes follow, and those that have ended, as long as they are
   * stored.
   * @example
   * for (const { id, tool, status } of await host.tasks()) console.log(id, tool, status)
   */
  tasks(): Promise<HostTask[]> {
    return this.#services.tasks.list()
  }

  /**
   * The task with this id.
   * @throws McpError ERR_INVALID_PARAMS for an unknown id
   * @example
   * const { content } = await (await host.task(id)).result()
   */
  task(id: string): Promise<HostTask> {
    return this.#services.tasks.get(id)
  }

  /**
   * Cancels a task. If its server is not connected, it is told later. If the task ended before, its result stays.
   * @throws McpError ERR_INVALID_PARAMS for an unknown id
   * @example
   * const { status } = await host.cancelTask(id)
   */
  cancelTask(id: string): Promise<HostTask> {
    return this.#services.tasks.cancel(id)
  }

  /**
   * Reads a resource for a model, or for the person.
   * @example
   * const { contents } = await host.read('note://42')
   */
  async read(uri: string, options: HostCallOptions = {}): Promise<ReadResourceResult> {
    return readResource(this.#services, await openResource(this.#services, uri, options), useOptions(this.#services, options))
  }

  /**
   * The skills of all servers, approved or not. `review` and `approve` are about the others. A server may have skills that it does not
   * list: see `includeSkill`.
   * @example
   * for (const { exposed, state } of host.skills()) console.log(exposed, state)
   */
  skills(): readonly SkillEntry[] {
    return listSkills(this.#services.fleet.all())
  }

  /**
   * Takes a skill into the offering of its server that the server need not list. The person is asked to approve it.
   * @example
   * await host.includeSkill('docs', 'skill://refunds/SKILL.md')
   */
  async includeSkill(server: string, uri: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    await startForUse(this.#services, server, options)
    await this.#services.fleet.get(server).includeSkill(uri, options.signal)
  }

  /**
   * Loads an approved skill for a model: its text, verified, after a line that names the server.
   * @example
   * const { text } = await host.loadSkill('docs', 'skill://refunds/SKILL.md', { conversation })
   */
  async loadSkill(server: string, uri: string, options: HostCallOptions = {}): Promise<HostSkill> {
    await startForUse(this.#services, server, options)
    return loadSkill(this.#services, this.#services.fleet.get(server), uri, useOptions(this.#services, options))
  }

  /**
   * Reads a file of a skill. A model can read files of approved skills; the person can look at all.
   * @param path within the skill, such as `references/FORMS.md`
   * @example
   * const { contents } = await host.readSkillFile('docs', 'skill://refunds/SKILL.md', 'SKILL.md', { as: 'person' })
   */
  async readSkillFile(server: string, uri: string, path: string, options: HostCallOptions = {}): Promise<ReadResourceResult> {
    await startForUse(this.#services, server, options)
    const owner = this.#services.fleet.get(server)
    return readSkillFile(this.#services, owner, skillOf(owner, uri), fileUri(uri, path), useOptions(this.#services, options))
  }

  /**
   * Calls `listener` after each change of the resource. Resolves with the function that ends the subscription.
   * @example
   * const stop = await host.watch('note://42', (uri) => console.log(uri, 'changed'))
   */
  async watch(uri: string, listener: (uri: string) => void, options: HostCallOptions = {}): Promise<() => void> {
    const target = await openResource(this.#services, uri, options)
    return subscribe(this.#services, target, () => listener(uri), useOptions(this.#services, options))
  }

  /**
   * Gets a prompt for a model, or for the person.
   * @example
   * const { messages } = await host.prompt('notes__summary', { length: 'short' })
   */
  async prompt(prompt: CatalogName, args: Readonly<Record<string, string>> = {}, options: HostCallOptions = {}): Promise<GetPromptResult> {
    const { server, name } = await openNamed(this.#services, 'prompt', prompt, options)
    return getPrompt(this.#services, server, name, args, useOptions(this.#services, options))
  }

  /**
   * Suggestions of a server for the value of an argument. The text goes to that server only.
   * @example
   * const { values } = await host.complete('weather', { ref: { type: 'ref/prompt', name: 'city' }, argument: { name: 'name', value: 'Os'
   * } })
   */
  async complete(server: string, params: CompleteParams, options: HostCallOptions = {}): Promise<Completion> {
    await startForUse(this.#services, server, options)
    return complete(this.#services, this.#services.fleet.get(server), params, useOptions(this.#services, options))
  }

  /**
   * Shows the view of a tool. You show its page in a frame of another origin, with its `policy`, and pass messages between the frame and
   * its bridge. Everything that the view asks for is decided like an action of a model.
   * @example
   * const { view, policy, bridge } = await host.openApp('notes__board', { as: 'person', args, result, send: (message) => post(message) })
   */
  async openApp(tool: CatalogName, options: OpenAppOptions): Promise<HostApp> {
    const { as, conversation, signal, ...shown } = options
    const { server, name } = await openNamed(this.#services, 'tool', tool, { signal })
    const { openApp } = await import('./actions/open-app.ts')
    const { openUrl, info, limits } = this.#settings
    const use = useOptions(this.#services, { ...(as && { as }), ...(conversation && { conversation }), ...(signal && { signal }) })
    return openApp({ ...this.#services, openUrl }, server, name, shown, use, { info, ...(limits.apps && { limits: limits.apps }) })
  }

  /**
   * Explains the decision about a call. Nothing is asked, counted or done.
   * @example
   * const { decision, text } = await host.explain('notes__delete', { id: 42 })
   */
  async explain(tool: CatalogName, args: Readonly<Record<string, unknown>>, options: ExplainOptions = {}): Promise<Explanation> {
    const { server, name } = findNamed(this.#services, 'tool', tool)
    const { gate, policy, grants, wallNow } = this.#services
    const { action } = await gate.evaluate(toolRequest(server, name, () => args, useOptions(this.#services, options)))
    return explain(policy.current(), action, await grants.live(wallNow()))
  }

  /**
   * Allows models to call a tool from now on, as the answer "always allow" to a question does. Call it only when the person decided
   * so. Rejects with ERR_DENIED where the policy denies the call or forbids to allow it for good.
   * @example
   * const grant = await host.allowAlways('notes__search', { text: 'milk' }, { width: 'any', by: 'settings page' })
   */
  async allowAlways(tool: CatalogName, args: Readonly<Record<string, unknown>>, options: AllowOptions): Promise<Grant> {
    const { server, name } = findNamed(this.#services, 'tool', tool)
    const request = toolRequest(server, name, () => args, useOptions(this.#services, { as: 'model' }))
    const { gate, policy, grants, wallNow, redactor } = this.#services
    const services = { gate, grants, wallNow, policy: () => policy.current(), scrub: (text: string) => redactor.scrub(text) }
    return allowAlways(services, request, options)
  }

  /**
   * Sends a message to the model, which can use the catalog, under the policy. The last part of the answer is always an `end`.
   * @example
   * const conversation = new Conversation()
   * for await (const part of host.chat('What is in my notes?', { conversation })) show(part)
   */
  async *chat(message: ChatInput, options: ChatOptions = {}): AsyncGenerator<ChatPart, void, undefined> {
    const { clock, grants } = this.#services
    const { conversation = new Conversation(), model = this.models[0], system, contexts, signal } = options
    if (!model) throw new McpError('ERR_MODEL', 'chat needs a model: pass `model` to createHost')
    const said = readChatInput(message)
    await grants.endTurn(conversation.id, conversation.turn + 1)
    yield* runChat({
      model,
      conversation,
      said,
      contexts,
      system,
      tools: () => toolsForModel(this.#services, this.#settings),
      callTool: callerForModel(this.#services, byModel(conversation, model.label)),
      limits: chatLimits(this.#settings.limits),
      clock,
      signal,
    })
  }

  /**
   * The tools for a model that your own program runs. Calls are actions of the model: the policy decides, the person may be asked, and
   * the log records them. Use it once for each message of the person, because it begins a turn of the conversation.
   * @example
   * const { tools, call } = await host.modelTools({ conversation })
   * const outcome = await call('notes__search', { query: 'door' })
   */
  async modelTools({ conversation, model }: ModelToolsOptions): Promise<ModelTools> {
    const { grants, clock } = this.#services
    checkConversation(conversation)
    await grants.endTurn(conversation.id, conversation.beginTurn())
    const callTool = callerForModel(this.#services, byModel(conversation, model))
    return modelTools({ tools: toolsForModel(this.#services, this.#settings), callTool, limits: chatLimits(this.#settings.limits), clock })
  }

  /**
   * Ends a conversation and all grants for it.
   * @example
   * await host.endConversation(conversation)
   */
  async endConversation({ id }: Conversation): Promise<void> {
    await this.#services.grants.endRun(id)
    this.#services.usage.forget(id)
  }

  /**
   * Closes all connections and the audit log.
   * @example
   * await host.close()
   */
  async close(): Promise<void> {
    const { fleet, catalog, roots, gate, audit, tasks } = this.#services
    // First, because a task that is left must not look like one that failed.
    await tasks.close()
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
}
