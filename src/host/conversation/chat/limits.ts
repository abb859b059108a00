/** The limits of a conversation. */

/** The options `limits.chat` of a host. */
export interface ChatLimits {
  /** Answers of the model in one turn. */
  maxSteps: number
  /** Tokens of one turn, as the model counts them: prompts and answers together. */
  maxTurnTokens: number
  /** Tokens of one answer. */
  maxTokens: number
  /** Approximate tokens of the conversation that the model gets. The oldest results are left out first. */
  maxContextTokens: number
  /** Approximate tokens of one result that the model gets. */
  maxResultTokens: number
  /** Tool calls at the same time. */
  maxParallelCalls: number
}

export const DEFAULT_CHAT_LIMITS: ChatLimits = {
  maxSteps: 25,
  maxTurnTokens: 1_000_000,
  maxTokens: 8192,
  maxContextTokens: 100_000,
  maxResultTokens: 25_000,
  maxParallelCalls: 4,
}

/** Limits against a faulty model or tool. Useful turns stay far below them, so they are not options. Tests make them small. */
export interface FixedChatLimits {
  /** Characters of one answer, for models that count tokens wrongly. */
  maxAnswerChars: number
  /** Messages of a conversation, against many tiny ones. `maxContextTokens` drops long ones sooner. The oldest turns are dropped first. */
  maxMessages: number
  /** Tool calls in one answer. The host does not make further calls. */
  maxCalls: number
  /** How long a call may take, including all questions to the person. A host raises it with the limits of questions and requests. */
  callTimeoutMs: number
}

export const FIXED_CHAT_LIMITS: FixedChatLimits = {
  maxAnswerChars: 1_000_000,
  maxMessages: 2000,
  maxCalls: 32,
  callTimeoutMs: 15 * 60_000,
}

export type AllChatLimits = ChatLimits & FixedChatLimits
