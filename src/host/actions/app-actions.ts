/** What a view asks its host for. Each request is an action of the app, decided at the gate. */

import type { ModelContext } from '../../apps/bridge/messages.ts'
import { personUrl } from '../../base/address/person-url.ts'
import type { Clock } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { ReadResourceResult } from '../../protocol/model/resources.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import { TOOL_RESULT } from '../conversation/flow/answers.ts'
import { labelsOfResult } from '../conversation/flow/result-labels.ts'
import type { ActionKind } from '../model/action.ts'
import { UNTRUSTED } from '../model/label.ts'
import type { Subject } from '../model/question.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { admitResult } from './admit-result.ts'
import { callTool } from './call-tool.ts'
import { readResource } from './read-resource.ts'

export interface AppServices extends ActionServices {
  catalog: Catalog
  clock: Clock
  /** Opens a page after the person agreed to it. */
  openUrl(url: string, purpose: 'page'): void | Promise<void>
}

/** The app, and the conversations that it belongs to. */
export interface AppFacts {
  server: HostedServer
  /** The tool whose view it is. */
  tool: Tool
  /** The conversation with the call that opened it. */
  chat: Conversation
  /** What the app has read. It enters the chat only with what the app says there. */
  own: Conversation
}

export class AppActions {
  readonly #services: AppServices
  readonly #facts: AppFacts

  constructor(services: AppServices, facts: AppFacts) {
    this.#services = services
    this.#facts = facts
  }

  /** Only tools of its own server, and only those for apps: the name is looked up there and nowhere else. */
  async callTool(params: { name: string; arguments?: Record<string, unknown> }, signal: AbortSignal): Promise<CallToolResult> {
    const called = await callTool(this.#services, this.#facts.server, params.name, params.arguments ?? {}, this.#use(signal))
    return 'error' in called ? called.said : called.result
  }

  async read(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    const { server } = this.#facts
    const owner = this.#services.catalog.ownerOn(server.id, uri)
    if (owner.kind !== 'one') throw new McpError('ERR_SERVER_UNKNOWN', `The server of this app offers no resource ${JSON.stringify(uri)}`)
    const template = owner.entry.kind === 'template' ? owner.entry.definition.uriTemplate : undefined
    return readResource(this.#services, { server, uri, template }, this.#use(signal))
  }

  async openLink(text: string, signal: AbortSignal): Promise<void> {
    const url = personUrl(text)
    if (!url?.href.startsWith('https:')) throw new McpError('ERR_URL_REFUSED', 'Expected an address that begins with https')
    const message = `An app of ${this.#facts.server.id} asks to open this page.`
    await this.#run('elicit.url', { url: url.href, message }, { kind: 'url', message, url }, signal, async (isOpened) => {
      if (!isOpened) await this.#services.openUrl(url.href, 'page')
    })
  }

  async sendMessage(
    content: readonly ContentBlock[],
    deliver: (content: readonly ContentBlock[]) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    if (content.some(({ type }) => type !== 'text')) throw new McpError('ERR_INVALID_PARAMS', 'Expected a message of text only')
    await this.#run('app.message', { content }, { kind: 'say', content }, signal, async () => {
      const { server, chat } = this.#facts
      chat.flow().add({ labels: this.#labels(), source: this.#source, server: server.id, value: content, at: this.#services.wallNow() })
      await deliver(content)
    })
  }

  /** Decided like a result of the tool: it is inspected, and enters the chat with its labels. */
  async updateContext({ content = [], structuredContent }: ModelContext, onContext: () => void, signal: AbortSignal): Promise<void> {
    if (content.some(({ type }) => type !== 'text'))
      throw new McpError('ERR_INVALID_PARAMS', 'Expected a context of text and structured content')
    const { server, tool, chat } = this.#facts
    const value: CallToolResult = { content, ...(structuredContent && { structuredContent }) }
    const source = { server, kind: 'tool.result', primitive: { kind: 'tool', name: tool.name }, source: `${tool.name} (app)` } as const
    const admitted = await admitResult(
      this.#services,
      { ...source, labels: () => this.#labels() },
      TOOL_RESULT,
      { value, maxBytes: this.#services.maxResultBytes },
      { ...this.#use(signal), conversation: chat },
    )
    signal.throwIfAborted()
    chat.setContext(this.#source, contextText(admitted))
    onContext()
  }

  get #source(): string {
    return `${this.#facts.server.id}/${this.#facts.tool.name} (app)`
  }

  /** Everything that the app has read, and the texts that it makes up. */
  #labels(): string[] {
    const { server, tool, own } = this.#facts
    return [...new Set([...own.flow().labels, ...labelsOfResult(server.spec, tool, server.asserted(tool.name)), UNTRUSTED])]
  }

  #use(signal: AbortSignal): UseOptions {
    const { server, own } = this.#facts
    return { conversation: own, initiator: 'app', chain: ['you', `app of ${server.id}`], signal }
  }

  #run(
    kind: ActionKind,
    args: Readonly<Record<string, unknown>>,
    subject: Subject,
    signal: AbortSignal,
    perform: (isOpened: boolean) => Promise<void>,
  ): Promise<void> {
    const { server, tool } = this.#facts
    const current = () => ({ primitive: server.primitive('tool', tool.name), args })
    return this.#services.gate.run({ ...useRequest(server, kind, this.#use(signal), current), subject: () => subject }, ({ answer }) =>
      perform(answer?.kind === 'allow' && answer.isOpened === true),
    )
  }
}

function contextText({ content, structuredContent }: CallToolResult): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  if (structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return texts.join('\n')
}
