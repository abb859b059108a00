/** The values of chats. */

import type { ChatPart, ModelProvider, ModelRequest, ProviderFacts, ViewContext } from '../host/index.ts'
import type { ApiErrorBody } from './api-errors.ts'

/** A model to chat with. */
export interface ModelView {
  id: string
  label: string
  /** `scripted`: rules in place of a language model. `person`: you answer, in the page. */
  kind: 'configured' | 'scripted' | 'person'
}

/** A model that the person stored. No route shows its key. */
export interface StoredModelView {
  /** As in `ModelView` and for `portico chat --model`: `ollama:qwen3`. */
  id: string
  provider: ModelProvider
  model: string
  baseURL?: string
  /** The name of its key in the vault. */
  secret?: string
}

/** A model to store. The key goes to the vault. */
export interface NewModel {
  provider: ModelProvider
  model: string
  baseURL?: string
  key?: string
}

/** What a provider of models needs. */
export type ModelProviderView = ProviderFacts

/** The answer of a model to a short message. */
export interface ModelTest {
  /** The beginning of its answer. */
  answer: string
  ms: number
}

/** A conversation in the list. */
export interface ConversationView {
  id: string
  /** The beginning of the first message. */
  title: string
  turns: number
  startedAt: number
  updatedAt: number
  /** The operation that answers at the moment. */
  running?: string
  /** It is open in this console. A stored one is opened by reading or continuing it. */
  isOpen: boolean
}

/** A label of a conversation: what kind of text is in its context. */
export interface ContextLabel {
  /** Such as `untrusted` or `private:notes`. */
  label: string
  /** Where it came from. */
  sources: readonly string[]
}

/** A conversation with its messages. */
export interface ConversationDetails {
  conversation: ConversationView
  messages: readonly ModelRequest['messages'][number][]
  context: readonly ContextLabel[]
  /** What views of tools tell the model with the next message. */
  contexts: readonly ViewContext[]
  /** The `run` of its records in the audit log, as long as it is open. */
  run: string
}

/** A request that waits for the person in place of a model. */
export interface ModelTurnView {
  id: string
  /** The operation of the chat. */
  operation?: string
  conversation?: string
  /** Milliseconds since 1970. */
  askedAt: number
  request: ModelRequest
}

/** The answer of the person in place of a model: text, calls of tools, or both. */
export interface ModelTurnAnswer {
  text?: string
  calls?: readonly { name: string; args?: Readonly<Record<string, unknown>> }[]
}

/** A part of a chat. Errors are plain objects. */
export type ChatPartView = Exclude<ChatPart, { type: 'error' }> | { type: 'error'; error: ApiErrorBody['error'] }
