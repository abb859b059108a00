/** Every bound of a conversation with a model, with its default. */

export interface ChatLimits {
  /** Messages of the model in one turn. */
  maxSteps: number
  /** Tokens of one turn, as the model counts them, prompts and answers together. */
  maxTurnTokens: number
  /** Tokens of one answer. */
  maxTokens: number
  /** Characters of one answer, whatever the model says about tokens. */
  maxAnswerChars: number
  /** About how many tokens of the conversation the model is given; the oldest results are left out first. */
  maxContextTokens: number
  /** About how many tokens of one result. */
  maxResultTokens: number
  /** Messages kept; whole turns are forgotten, the oldest first. */
  maxMessages: number
  /** Calls in one answer; the others are not made. */
  maxCalls: number
  /** Calls that run at the same time. */
  maxParallelCalls: number
  /** How long a call may take, with everything a person is asked on its way. */
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
