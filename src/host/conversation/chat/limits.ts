/** Limits of a conversation, with their defaults. */

export interface ChatLimits {
  /** Maximum messages of the model in one turn. */
  maxSteps: number
  /** Tokens of one turn, as the model counts them, prompts and answers together. */
  maxTurnTokens: number
  /** Tokens of one answer. */
  maxTokens: number
  /** Characters of one answer. Does not depend on the tokens that the model reports. */
  maxAnswerChars: number
  /** Estimated tokens of the conversation that the model gets. The oldest results are left out first. */
  maxContextTokens: number
  /** Estimated tokens of one result. */
  maxResultTokens: number
  /** Messages in a conversation. The oldest turns are removed first. */
  maxMessages: number
  /** Calls in one answer. Further calls are not made. */
  maxCalls: number
  /** Calls that run at the same time. */
  maxParallelCalls: number
  /** Maximum time of a call, including its questions. */
  callTimeoutMs: number
}

export const DEFAULT_CHAT_LIMITS: ChatLimits = {
  maxSteps: 25,
  maxTurnTokens: 1_000_000,
  maxTokens: 8192,
  maxAnswerChars: 1_000_000,
  maxContextTokens: 100_000,
  maxResultTokens: 25_000,
  maxMessages: 2000,
  maxCalls: 32,
  maxParallelCalls: 4,
  callTimeoutMs: 15 * 60_000,
}
