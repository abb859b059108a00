/** The conversations of a console: those that are open, and those that the host has stored. */

import { Conversation, type Host, McpError } from '../../host/index.ts'
import type { ContextLabel, ConversationView } from '../api.ts'
import { conflict, notFound, tooMany } from '../errors.ts'
import type { ConsoleLimits } from '../limits.ts'

interface Opened {
  /** The id for pages. It stays the same as long as the conversation is open. */
  id: string
  conversation: Conversation
  title: string
  startedAt: number
  updatedAt: number
  running?: string | undefined
  /** The id in the store of the host. */
  stored?: string
}

const MAX_TITLE = 80

export class Conversations {
  readonly #host: Pick<Host, 'conversations' | 'endConversation'>
  readonly #limits: Pick<ConsoleLimits, 'maxConversations'>
  readonly #open = new Map<string, Opened>()

  constructor(host: Pick<Host, 'conversations' | 'endConversation'>, limits: Pick<ConsoleLimits, 'maxConversations'>) {
    this.#host = host
    this.#limits = limits
  }

  /** The newest first. */
  async list(): Promise<ConversationView[]> {
    const { conversations } = await this.#host.conversations.list()
    const open = [...this.#open.values()]
    const others = conversations.filter(({ id }) => !open.some((each) => each.id === id || each.stored === id))
    const all = [...open.map(viewOf), ...others.map((each) => ({ ...each, isOpen: false }))]
    return all.sort((one, other) => other.updatedAt - one.updatedAt)
  }

  /** Opens a stored conversation, if it is not open. @throws ApiError 404, or 429 */
  async get(id: string): Promise<Conversation> {
    return (await this.#find(id)).conversation
  }

  async view(id: string): Promise<ConversationView> {
    return viewOf(await this.#find(id))
  }

  /** The labels of a conversation with their sources. */
  async context(id: string): Promise<ContextLabel[]> {
    const { flow } = (await this.get(id)).toJSON()
    return (flow?.labels ?? []).map(([label, sources]) => ({ label, sources }))
  }

  /** Starts a turn. @param id undefined for a new conversation. @throws ApiError 404, 409 if it answers at the moment, or 429 */
  async begin(id: string | undefined, message: string, operation: string): Promise<Pick<Opened, 'id' | 'conversation'>> {
    const opened = id === undefined ? await this.#create(message) : await this.#find(id)
    if (opened.running !== undefined) throw conflict('The model answers in this conversation at the moment: wait, or stop it')
    opened.running = operation
    opened.updatedAt = Date.now()
    return opened
  }

  /** Ends a turn and stores the conversation. */
  async end(id: string): Promise<void> {
    const opened = this.#open.get(id)
    if (!opened) return
    opened.running = undefined
    opened.updatedAt = Date.now()
    if (opened.conversation.messages.length > 0) opened.stored = await this.#host.conversations.save(opened.conversation)
  }

  /** Removes it here and from the store. @throws ApiError 404, or 409 if it answers at the moment */
  async remove(id: string): Promise<void> {
    const opened = this.#open.get(id)
    if (opened?.running !== undefined) throw conflict('The model answers in this conversation at the moment: stop it first')
    const wasStored = await this.#host.conversations.remove(opened?.stored ?? id)
    if (!opened && !wasStored) throw notFound(`No conversation has the id ${JSON.stringify(id)}`)
    if (opened) await this.#close(opened)
  }

  async #find(id: string): Promise<Opened> {
    const open = this.#open.get(id) ?? [...this.#open.values()].find(({ stored }) => stored === id)
    if (open) return open
    const { conversations } = await this.#host.conversations.list()
    const header = conversations.find((each) => each.id === id)
    if (!header) throw notFound(`No conversation has the id ${JSON.stringify(id)}`)
    await this.#makeRoom()
    const conversation = await this.#host.conversations.load(id).catch((error: unknown) => {
      if (!(error instanceof McpError) || error.code !== 'ERR_INVALID_PARAMS') throw error
      throw notFound(error.message)
    })
    const { title, startedAt, updatedAt } = header
    return this.#add({ id, conversation, title, startedAt, updatedAt, stored: id })
  }

  async #create(message: string): Promise<Opened> {
    await this.#makeRoom()
    const now = Date.now()
    const conversation = new Conversation()
    const plain = message.replaceAll(/\s+/g, ' ').trim()
    const title = plain.length > MAX_TITLE ? `${plain.slice(0, MAX_TITLE)}…` : plain
    return this.#add({ id: conversation.id, conversation, title, startedAt: now, updatedAt: now })
  }

  #add(opened: Opened): Opened {
    // Another window may have opened it meanwhile.
    const before = this.#open.get(opened.id)
    if (before) return before
    this.#open.set(opened.id, opened)
    return opened
  }

  /** Closes the one that was idle longest. It stays stored. */
  async #makeRoom(): Promise<void> {
    const { maxConversations } = this.#limits
    if (this.#open.size < maxConversations) return
    const [idle] = [...this.#open.values()].filter(({ running }) => running === undefined).sort((a, b) => a.updatedAt - b.updatedAt)
    if (!idle) throw tooMany(`${maxConversations} conversations are answered already (maxConversations): wait, or stop one`)
    await this.#close(idle)
  }

  async #close({ id, conversation }: Opened): Promise<void> {
    this.#open.delete(id)
    await this.#host.endConversation(conversation)
  }
}

const viewOf = ({ id, conversation, title, startedAt, updatedAt, running }: Opened): ConversationView => ({
  id,
  title,
  turns: conversation.turn,
  startedAt,
  updatedAt,
  ...(running !== undefined && { running }),
  isOpen: true,
})
