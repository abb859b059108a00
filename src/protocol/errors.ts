/** Everything that can go wrong on this side, as one table: a fixed string for programs, a JSON-RPC code for the wire. When it happens is in error-meanings.ts. */

import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../jsonrpc/message.ts'

interface ErrorRow {
  /** The code a server answers with when its handler fails this way; a revision may have its own. */
  rpc: number
  /** Its message is written for the peer; that of any other error stays on this side. */
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
  ERR_CLOSED: { rpc: INTERNAL_ERROR },
  ERR_NETWORK: { rpc: INTERNAL_ERROR },
  ERR_HTTP: { rpc: INTERNAL_ERROR },
  ERR_NO_ENDPOINT: { rpc: INTERNAL_ERROR },
  ERR_SESSION_GONE: { rpc: INTERNAL_ERROR },
  ERR_INSECURE: { rpc: INTERNAL_ERROR },
  ERR_URL_REFUSED: { rpc: INTERNAL_ERROR },
  ERR_STORE: { rpc: INTERNAL_ERROR },
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

export type ErrorCode = keyof typeof ERRORS

export interface McpErrorOptions {
  /** Goes to the peer with the message. */
  data?: unknown
  /** Stays here. */
  cause?: unknown
}

/** Something went wrong on this side. What the peer reported is a `RemoteError`. */
export class McpError extends Error {
  override readonly name: string = 'McpError'
  readonly code: ErrorCode
  readonly data: unknown

  constructor(code: ErrorCode, message: string, options: McpErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.data = options.data
  }
}

/** A page a person must visit. The id ties a later notice of completion to it. */
export interface RequiredPage {
  message: string
  url: string
  elicitationId: string
}

/** Thrown by a handler that can do nothing before the person has visited a page; the client shows it and tries again. */
export class UrlElicitationRequired extends McpError {
  override readonly name = 'UrlElicitationRequired'
  readonly pages: RequiredPage[]

  constructor(pages: readonly RequiredPage[]) {
    super('ERR_URL_ELICITATION_REQUIRED', pages.map(({ message, url }) => `${message}: ${url}`).join('; '), {
      data: { elicitations: pages.map((page) => ({ mode: 'url', ...page })) },
    })
    this.pages = [...pages]
  }
}

/** Thrown by a handler: an answer for the model, passed on word for word as a result with `isError`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** The person said no to a question. */
export class Declined extends Error {
  override readonly name = 'Declined'
}

/** The person closed the question without an answer. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}
