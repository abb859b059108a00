/** What was said, by whom, and how many times the person has spoken. Stays within its bounds by forgetting the oldest. */

import { randomUUID } from 'node:crypto'
import { McpError } from '../../../protocol/errors.ts'
import type { SamplingContent, SamplingMessage } from '../../../protocol/model/sampling.ts'
import { estimateTokens } from '../../models/estimate.ts'
import { FlowContext, type FlowRecord } from '../flow/context.ts'
import type { ProvenanceLimits } from '../flow/provenance.ts'
import type { ChatLimits } from './limits.ts'

/** To keep a conversation somewhere, and to take it up again. */
export interface ConversationRecord {
  messages: readonly SamplingMessage[]
  turn: number
  /**
   * The labels it has gathered, where they came from, and since when others have a say in it. Without this it counts as one
   * that holds text of others and private data: nobody knows that it does not.
   */
  flow?: FlowRecord
}

/** What was said so far; whole turns are forgotten, the oldest first, when there is no room for more. */
export class Conversation {
  /** Grants for a conversation belong to this id. It is new for each object and not part of the record. */
  readonly id: string = randomUUID()
  #messages: SamplingMessage[]
  #turn: number
  #isHeld = false
  /** As it was kept, until somebody asks for it. */
  readonly #kept: FlowRecord | undefined
  #flow: FlowContext | undefined
  /** Counted once: messages are not changed, but replaced. */
  readonly #tokens = new WeakMap<SamplingMessage, number>()

  constructor({ messages, turn, flow }: ConversationRecord = { messages: [], turn: 0 }) {
    this.#messages = [...messages]
    this.#turn = turn
    this.#kept = flow
  }

  /** What it has seen, for whoever decides what may be done next. One for each conversation: the limits of the first call hold. */
  flow(limits: Partial<ProvenanceLimits> = {}): FlowContext {
    this.#flow ??= this.#flowOf(limits)
    return this.#flow
  }

  get messages(): readonly SamplingMessage[] {
    return this.#messages
  }

  /** Counts the person's messages; a grant for a turn ends with it. */
  get turn(): number {
    return this.#turn
  }

  /** For one turn at a time: two at once would tear each other's calls from their results. Returns what ends it. */
  hold(): () => void {
    if (this.#isHeld) throw new McpError('ERR_INVALID_REQUEST', 'Another turn of this conversation has not ended yet')
    this.#isHeld = true
    return () => {
      this.#isHeld = false
    }
  }

  /** The person speaks. */
  begin(said: string | SamplingContent[]): void {
    this.#turn++
    this.#messages.push({ role: 'user', content: typeof said === 'string' ? { type: 'text', text: said } : said })
  }

  add(message: SamplingMessage): void {
    this.#messages.push(message)
  }

  /** Forgets until it fits: results first, whole turns next. Throws ERR_LIMIT when the last turn alone is too large. */
  fit({ maxContextTokens, maxMessages }: Pick<ChatLimits, 'maxContextTokens' | 'maxMessages'>, reservedTokens = 0): void {
    const room = maxContextTokens - reservedTokens
    const isTooLarge = (): boolean => this.#size() > room
    for (let at = 0; at < this.#messages.length - 1 && isTooLarge(); at++) this.#forgetResults(at)
    while (isTooLarge() || this.#messages.length > maxMessages) if (!this.#forgetTurn()) break
    for (let at = 0; at < this.#messages.length && isTooLarge(); at++) this.#forgetResults(at)
    if (isTooLarge())
      throw new McpError('ERR_LIMIT', `What the model would have to read is larger than ${maxContextTokens} tokens (maxContextTokens)`)
  }

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

  #sizeOf(message: SamplingMessage): number {
    const known = this.#tokens.get(message) ?? estimateTokens(message)
    this.#tokens.set(message, known)
    return known
  }

  #forgetResults(at: number): void {
    const message = this.#messages[at]
    if (!message) return
    const blocks = Array.isArray(message.content) ? message.content : [message.content]
    if (!blocks.some(({ type }) => type === 'tool_result')) return
    const forgotten: SamplingMessage = { ...message, content: blocks.map(forgetResult) }
    if (this.#sizeOf(forgotten) < this.#sizeOf(message)) this.#messages[at] = forgotten
  }

  /** False when there is only one. */
  #forgetTurn(): boolean {
    const next = this.#messages.findIndex((message, at) => at > 0 && isTurn(message))
    if (next === -1) return false
    this.#messages = this.#messages.slice(next)
    return true
  }
}

const isTurn = ({ role, content }: SamplingMessage): boolean =>
  role === 'user' && (Array.isArray(content) ? content : [content]).every(({ type }) => type !== 'tool_result')

function forgetResult(block: SamplingContent): SamplingContent {
  if (block.type !== 'tool_result') return block
  const note = `(This result of about ${estimateTokens(block.content)} tokens was left out to make room. Call the tool again if it is needed.)`
  const { structuredContent: _, ...rest } = block
  return { ...rest, content: [{ type: 'text', text: note }] }
}
