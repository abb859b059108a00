/** All errors of this side in one table: a fixed code for programs and a JSON-RPC code for the wire. docs/errors.md explains each. */

import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../jsonrpc/message.ts'

interface ErrorRow {
  /** The JSON-RPC code that a server answers with. A revision may use another one. */
  rpc: number
  /** The message is sent to the peer. Messages of other errors stay on this side. */
  isForPeer?: true
}

export const ERRORS = {
  ERR_INVALID_REQUEST: { rpc: INVALID_REQUEST, isForPeer: true },
  ERR_METHOD_NOT_FOUND: { rpc: METHOD_NOT_FOUND, isForPeer: true },
  ERR_INVALID_PARAMS: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_INTERNAL: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_TOOL_NOT_FOUND: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_PROMPT_NOT_FOUND: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_RESOURCE_NOT_FOUND: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_CURSOR_INVALID: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_STATE_INVALID: { rpc: INVALID_PARAMS, isForPeer: true },
  ERR_OUTPUT_INVALID: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_CAPABILITY_MISSING: { rpc: -32021, isForPeer: true },
  ERR_VERSION_UNSUPPORTED: { rpc: -32022, isForPeer: true },
  ERR_HEADER_MISMATCH: { rpc: -32020, isForPeer: true },
  ERR_URL_ELICITATION_REQUIRED: { rpc: -32042, isForPeer: true },
  ERR_SCOPE: { rpc: INVALID_REQUEST, isForPeer: true },
  ERR_RATE_LIMITED: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_LIMIT: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_ASK: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_SCHEMA: { rpc: INTERNAL_ERROR },
  ERR_DEFINITION: { rpc: INTERNAL_ERROR },
  ERR_TIMEOUT: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_CANCELLED: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_CLOSED: { rpc: INTERNAL_ERROR },
  ERR_NETWORK: { rpc: INTERNAL_ERROR },
  ERR_HTTP: { rpc: INTERNAL_ERROR },
  ERR_NO_ENDPOINT: { rpc: INTERNAL_ERROR },
  ERR_SESSION_GONE: { rpc: INTERNAL_ERROR },
  ERR_INSECURE: { rpc: INTERNAL_ERROR },
  ERR_URL_REFUSED: { rpc: INTERNAL_ERROR },
  ERR_STORE: { rpc: INTERNAL_ERROR },
  ERR_STORE_DOWN: { rpc: INTERNAL_ERROR },
  ERR_STORE_KEY: { rpc: INTERNAL_ERROR },
  ERR_AUTH: { rpc: INTERNAL_ERROR },
  ERR_EXIT: { rpc: INTERNAL_ERROR },
  ERR_SPAWN: { rpc: INTERNAL_ERROR },
  ERR_ANSWER_INVALID: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_DENIED: { rpc: INTERNAL_ERROR },
  ERR_QUARANTINED: { rpc: INTERNAL_ERROR },
  ERR_CONSENT: { rpc: INTERNAL_ERROR },
  ERR_CONFIG: { rpc: INTERNAL_ERROR },
  ERR_SECRET: { rpc: INTERNAL_ERROR },
  ERR_AUDIT: { rpc: INTERNAL_ERROR },
  ERR_SERVER_UNKNOWN: { rpc: INTERNAL_ERROR },
  ERR_SERVER_DOWN: { rpc: INTERNAL_ERROR },
  ERR_MODEL: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_BUDGET: { rpc: INTERNAL_ERROR, isForPeer: true },
  ERR_UNSUPPORTED: { rpc: INTERNAL_ERROR },
} as const satisfies Record<string, ErrorRow>

/** The `code` of an `McpError`. */
export type ErrorCode = keyof typeof ERRORS

export interface McpErrorOptions {
  /** Sent to the peer with the message. */
  data?: unknown
  /** Never sent to the peer. */
  cause?: unknown
}

/**
 * A failure on this side. Errors that the peer reports are `RemoteError`.
 *
 * @example
 * try {
 *   await client.call('forecast', { city: 'Oslo' })
 * } catch (error) {
 *   if (error instanceof McpError && error.code === 'ERR_TIMEOUT') console.error('The server is slow')
 * }
 */
export class McpError extends Error {
  override readonly name: string = 'McpError'
  /** What went wrong, for programs. docs/errors.md explains each code. */
  readonly code: ErrorCode
  /** Details for the peer and for programs. */
  readonly data: unknown

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.data = options.data
  }
}

/** A page that the person must visit. The id connects it to the later notice of completion. */
export interface RequiredPage {
  message: string
  url: string
  elicitationId: string
}

/**
 * Thrown by a handler when the person must visit pages first. The client shows them and sends the request again. See `pageRequired`.
 *
 * @example
 * throw new UrlElicitationRequired([{ message: 'Connect your account', url: 'https://example.com/connect', elicitationId: '42' }])
 */
export class UrlElicitationRequired extends McpError {
  override readonly name = 'UrlElicitationRequired'
  /** The pages to visit. */
  readonly pages: RequiredPage[]

  constructor(pages: readonly RequiredPage[]) {
    super('ERR_URL_ELICITATION_REQUIRED', pages.map(({ message, url }) => `${message}: ${url}`).join('; '), {
      data: { elicitations: pages.map((page) => ({ mode: 'url', ...page })) },
    })
    this.pages = [...pages]
  }
}

/**
 * Thrown by a tool handler to tell the model what went wrong. The message becomes a result with `isError`. The text of
 * any other error is hidden from the client.
 *
 * @example
 * if (!city) throw new ToolError('Unknown city. Use a name such as "Oslo".')
 */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/**
 * The person declined a question. Servers catch it around `ctx.elicit`; clients throw it in their `answer` handlers.
 *
 * @example
 * await connect(url, { answer: { sample: () => { throw new Declined('Sampling is disabled') } } })
 */
export class Declined extends Error {
  override readonly name = 'Declined'
}

/**
 * The person dismissed a question without an answer. Servers catch it around `ctx.elicit`; clients throw it in their `answer` handlers.
 *
 * @example
 * await connect(url, { answer: { elicit: () => { throw new Cancelled('The window was closed') } } })
 */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}
