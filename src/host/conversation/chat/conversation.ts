/** The messages of a conversation, with its labels. */

import { randomUUID } from 'node:crypto'
import { McpError } from '../../../protocol/errors.ts'
import { estimateTokens } from '../../language-models/estimate-tokens.ts'
import type { ModelContent, ModelMessage } from '../../language-models/language-model.ts'
import { FlowContext, type FlowRecord } from '../flow/context.ts'
import type { ProvenanceLimits } from '../flow/provenance.ts'
import type { AllChatLimits } from './limits.ts'
import { type ViewContext, ViewContexts } from './view-contexts.ts'

/** A conversation as JSON, to store it and to continue it later. */
export interface ConversationRecord {
  messages: readonly ModelMessage[]
  turn: number
  /**
   * The labels with their sources, and when untrusted text first arrived. A record without it counts as a conversation with untrusted
   * text and private data.
   */
  flow?: FlowRecord
}

/**
 * The messages so far. When there is no room for more, the oldest turns are removed.
 *
 * @example
 * const conversation = new Conversation(JSON.parse(stored))
 * for await (const part of host.chat('And tomorrow?', { conversation })) show(part)
 */
export class Conversation {
  /** Grants for a conversation belong to this id. It is not part of the record. */
  readonly id: string
  #messages: ModelMessage[]
  #turn: number
  #isHeld = false
  /** The stored labels, restored on first use. */
  readonly #kept: FlowRecord | undefined
  #flow: FlowContext | undefined
  readonly #contexts = new ViewContexts()
  /** Estimates by message. Messages are replaced, never changed. */
  readonly #tokens = new WeakMap<ModelMessage, number>()

  /** @param id Default: a new one. */
  constructor({ messages, turn, flow }: ConversationRecord = { messages: [], turn: 0 }, id: string = randomUUID()) {
    this.id = id
    this.#messages = [...messages]
    this.#turn = turn
    this.#kept = flow
  }

  /**
   * A conversation without messages and labels, for which the same grants hold. Use it for calls that a person makes by hand: what one
   * of them read is no part of the next.
   *
   * @example
   * await host.call('notes__list', {}, { as: 'person', conversation: byHand.emptied() })
   */
  emptied(): Conversation {
    return new Conversation(undefined, this.id)
  }

  /**
   * The labels of the conversation. The limits of the first call apply.
   * @internal
   */
  flow(limits: Partial<ProvenanceLimits> = {}): FlowContext {
    this.#flow ??= this.#flowOf(limits)
    return this.#flow
  }

  /** The messages so far. */
  get messages(): readonly ModelMessage[] {
    return this.#messages
  }

  /** The number of messages of the person. A grant for a turn ends with the next one. */
  get turn(): number {
    return this.#turn
  }

  /**
   * Locks the conversation for one turn: two at once would mix up calls and results. Returns the function that ends it.
   * @internal
   */
  hold(): () => void {
    if (this.#isHeld) throw new McpError('ERR_INVALID_REQUEST', 'Another turn of this conversation has not ended yet')
    this.#isHeld = true
    return () => {
      this.#isHeld = false
    }
  }

  /**
   * Begins a turn. Returns its number.
   * @internal
   */
  beginTurn(): number {
    // Messages without labels count as untrusted, so the labels of a new conversation must come before its first message.
    this.flow()
    return ++this.#turn
  }

  /**
   * What views of tools tell the model with the next message of the person. Show it to the person before you send that message.
   * @example
   * for (const { source, text } of conversation.contexts) console.log(source, text)
   */
  get contexts(): readonly ViewContext[] {
    return this.#contexts.list()
  }

  /**
   * Takes the text of a view back before it is sent. False: it was sent or changed.
   * @example
   * conversation.removeContext(context.id)
   */
  removeContext(id: string): boolean {
    return this.#contexts.remove(id)
  }

  /**
   * Text of a view for the next message. It replaces the former text of the same view.
   * @internal
   */
  setContext(source: string, text: string): void {
    this.#contexts.set(source, text)
  }

  /**
   * Adds a message of the person. It begins a new turn.
   * @param contexts the ids of the texts of views that go along. Default: all
   * @internal
   */
  begin(said: string | ModelContent[], contexts?: readonly string[]): void {
    this.beginTurn()
    const own = typeof said === 'string' ? { type: 'text' as const, text: said } : said
    const data = this.#contexts.take(contexts).map((text): ModelContent => ({ type: 'text', text }))
    this.#messages.push({ role: 'user', content: data.length === 0 ? own : [...data, own].flat() })
  }

  /**
   * Adds a message of the model, or the results of its calls.
   * @internal
   */
  add(message: ModelMessage): void {
    this.#messages.push(message)
  }

  /**
   * Removes old results, then old turns, until it fits.
   * @throws McpError ERR_LIMIT when the last turn alone is too large
   * @internal
   */
  fit({ maxContextTokens, maxMessages }: Pick<AllChatLimits, 'maxContextTokens' | 'maxMessages'>, reservedTokens = 0): void {
    const room = maxContextTokens - reservedTokens
    const isTooLarge = (): boolean => this.#size() > room
    for (let at = 0; at < this.#messages.length - 1 && isTooLarge(); at++) this.#forgetResults(at)
    while (isTooLarge() || this.#messages.length > maxMessages) if (!this.#forgetTurn()) break
    for (let at = 0; at < this.#messages.length && isTooLarge(); at++) this.#forgetResults(at)
    if (isTooLarge()) throw new McpError('ERR_LIMIT', `The conversation is larger than ${maxContextTokens} tokens (maxContextTokens)`)
  }

  /**
   * The conversation as JSON. `new Conversation(record)` continues it.
   *
   * @example
   * await writeFile('conversation.json', JSON.stringify(conversation))
   */
  toJSON(): ConversationRecord {
    const flow = this.#flow?.toJSON() ?? this.#kept
    return { messages: this.#messages, turn: this.#turn, ...(flow && { flow }) }
  }

  #flowOf(limits: Partial<ProvenanceLimits>): FlowContext {
    if (this.#kept) return FlowContext.restored(this.#kept, this.#messages, limits)
    return this.#messages.length === 0 && this.#turn === 0 ? new FlowContext(limits) : FlowContext.unknown(this.#messages, limits)
  }

  #size(): number {
    return this.#messages.reduce((sum, message) => sum + this.#sizeOf(message), 0)
  }

  #sizeOf(message: ModelMessage): number {
    const known = this.#tokens.get(message) ?? estimateTokens(message)
    this.#tokens.set(message, known)
    return known
  }

  #forgetResults(at: number): void {
    const message = this.#messages[at]
    if (!message) return
    const blocks = Array.isArray(message.content) ? message.content : [message.content]
    if (!blocks.some(({ type }) => type === 'tool_result')) return
    const forgotten: ModelMessage = { ...message, content: blocks.map(forgetResult) }
    if (this.#sizeOf(forgotten) < this.#sizeOf(message)) this.#messages[at] = forgotten
  }

  /** False when only one turn is left. */
  #forgetTurn(): boolean {
    const next = this.#messages.findIndex((message, at) => at > 0 && isTurn(message))
    if (next === -1) return false
    this.#messages = this.#messages.slice(next)
    return true
  }
}

/** @throws McpError ERR_INVALID_PARAMS for anything else, also in programs without types */
export function checkConversation(given: unknown): asserts given is Conversation {
  if (given instanceof Conversation) return
  throw new McpError('ERR_INVALID_PARAMS', 'Expected the conversation that the calls belong to: { conversation: new Conversation() }')
}

const isTurn = ({ role, content }: ModelMessage): boolean =>
  role === 'user' && (Array.isArray(content) ? content : [content]).every(({ type }) => type !== 'tool_result')

function forgetResult(block: ModelContent): ModelContent {
  if (block.type !== 'tool_result') return block
  const note = `(This result of about ${estimateTokens(block.content)} tokens was left out to make room. Call the tool again if it is needed.)`
  const { structuredContent: _, ...rest } = block
  return { ...rest, content: [{ type: 'text', text: note }] }
}
