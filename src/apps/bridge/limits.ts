/** The limits of an app. */

/** Limits of one app, so that a view cannot flood its host or its person. */
export interface AppLimits {
  /** Characters of one message of the view, as JSON. */
  maxMessageChars: number
  /** Messages of the view in one second, on average. A view that sends more is closed. */
  messagesPerSecond: number
  /** Messages of the view at once. */
  messageBurst: number
  /** Requests of the view that are not answered yet. */
  maxPending: number
  /** Questions to the person in a row that ended with a refusal. After that the host refuses without a question. */
  maxRefusals: number
  /** Characters of one log message of the view, as JSON. */
  maxLogChars: number
  /** Characters that a view may hand to the model at a time, as JSON. */
  maxContextChars: number
  /** How long the view may take to end. */
  teardownMs: number
  /** Bytes of the HTML of a view. */
  maxViewBytes: number
}

/** The limits of an app that gives no others. */
export const DEFAULT_APP_LIMITS: AppLimits = {
  maxMessageChars: 1024 * 1024,
  messagesPerSecond: 100,
  messageBurst: 500,
  maxPending: 32,
  maxRefusals: 5,
  maxLogChars: 16 * 1024,
  maxContextChars: 64 * 1024,
  teardownMs: 1_000,
  maxViewBytes: 5 * 1024 * 1024,
}
