/** Everything that can go wrong on this side, as one table: a fixed string for programs, a JSON-RPC code for the wire. */

import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../jsonrpc/message.ts'

interface ErrorRow {
  /** The code a server answers with when its handler fails this way; a revision may have its own. */
  rpc: number
  /** When it happens, for the documentation. */
  when: string
  /** Its message is written for the peer; that of any other error stays on this side. */
  isForPeer?: true
}

export const ERRORS = {
  ERR_INVALID_REQUEST: {
    rpc: INVALID_REQUEST,
    isForPeer: true,
    when: 'A message does not fit the state of the conversation, such as a request before initialize.',
  },
  ERR_METHOD_NOT_FOUND: {
    rpc: METHOD_NOT_FOUND,
    isForPeer: true,
    when: 'The method does not exist in the revision spoken, or needs a capability that was not declared.',
  },
  ERR_INVALID_PARAMS: { rpc: INVALID_PARAMS, isForPeer: true, when: 'Parameters are missing or of the wrong type.' },
  ERR_INTERNAL: { rpc: INTERNAL_ERROR, isForPeer: true, when: 'A handler failed. The text is masked; the reference in it is in the log.' },
  ERR_TOOL_NOT_FOUND: { rpc: INVALID_PARAMS, isForPeer: true, when: 'No tool of that name is offered to this caller.' },
  ERR_PROMPT_NOT_FOUND: { rpc: INVALID_PARAMS, isForPeer: true, when: 'No prompt of that name is offered to this caller.' },
  ERR_RESOURCE_NOT_FOUND: {
    rpc: INVALID_PARAMS,
    isForPeer: true,
    when: 'No resource or template matches the URI (-32002 where there is a session).',
  },
  ERR_CURSOR_INVALID: { rpc: INVALID_PARAMS, isForPeer: true, when: 'A cursor was not made by this server, or was altered.' },
  ERR_STATE_INVALID: {
    rpc: INVALID_PARAMS,
    isForPeer: true,
    when: 'A requestState is altered, expired, or belongs to another caller or request.',
  },
  ERR_OUTPUT_INVALID: { rpc: INTERNAL_ERROR, isForPeer: true, when: 'A tool returned something that does not match its output schema.' },
  ERR_CAPABILITY_MISSING: {
    rpc: -32021,
    isForPeer: true,
    when: 'The other side has not declared a capability that the operation needs (-32603 where there is a session).',
  },
  ERR_VERSION_UNSUPPORTED: {
    rpc: -32022,
    isForPeer: true,
    when: 'The two sides have no protocol revision in common (-32602 where there is a session).',
  },
  ERR_HEADER_MISMATCH: {
    rpc: -32020,
    isForPeer: true,
    when: 'HTTP headers that mirror the message are missing, malformed or say something else (-32001 where there is a session).',
  },
  ERR_URL_ELICITATION_REQUIRED: {
    rpc: -32042,
    isForPeer: true,
    when: 'A page must be visited first (only in the one revision that has the code; elsewhere the question is asked in another way).',
  },
  ERR_SCOPE: {
    rpc: INVALID_REQUEST,
    isForPeer: true,
    when: 'The credentials of the caller lack a scope; data.scopes has all that are needed (over HTTP the answer is 403 before that).',
  },
  ERR_RATE_LIMITED: {
    rpc: INTERNAL_ERROR,
    isForPeer: true,
    when: 'A caller exceeds a rate limit; data.retryAfterMs says when to come back.',
  },
  ERR_LIMIT: { rpc: INTERNAL_ERROR, isForPeer: true, when: 'Something grew past a bound; the message names the option that sets it.' },
  ERR_ASK: {
    rpc: INTERNAL_ERROR,
    isForPeer: true,
    when: 'A handler asked in a way that cannot be replayed, such as two questions of one name.',
  },
  ERR_SCHEMA: {
    rpc: INTERNAL_ERROR,
    when: 'A schema is refused: unknown dialect, a $ref that leaves the document, too large, or not a form.',
  },
  ERR_DEFINITION: {
    rpc: INTERNAL_ERROR,
    when: 'A tool, resource or prompt is defined in a way that cannot work, such as a name used twice.',
  },
  ERR_TIMEOUT: { rpc: INTERNAL_ERROR, isForPeer: true, when: 'No answer, or no end of a handler, within the time allowed.' },
  ERR_CLOSED: { rpc: INTERNAL_ERROR, when: 'The connection is closed, or closed while an answer was waited for.' },
  ERR_NETWORK: { rpc: INTERNAL_ERROR, when: 'A server could not be reached over the network, or the connection to it broke.' },
  ERR_HTTP: { rpc: INTERNAL_ERROR, when: 'A server answered with an HTTP status that is no answer; data.status has it.' },
  ERR_NO_ENDPOINT: {
    rpc: INTERNAL_ERROR,
    when: 'A URL answers 400, 404 or 405 and nothing of the protocol: nothing is served there, or something older than what was asked.',
  },
  ERR_SESSION_GONE: { rpc: INTERNAL_ERROR, when: 'The server no longer knows the session; the request was not looked at.' },
  ERR_INSECURE: {
    rpc: INTERNAL_ERROR,
    when: 'Something would leave this machine unencrypted, or go to another origin than was asked for.',
  },
  ERR_URL_REFUSED: {
    rpc: INTERNAL_ERROR,
    when: 'A URL that somebody else named is not asked, or not followed; data.reason says why, such as an address that is not public.',
  },
  ERR_STORE: {
    rpc: INTERNAL_ERROR,
    when: 'What is kept on this machine could not be written or locked; what was there before is still there.',
  },
  ERR_AUTH: {
    rpc: INTERNAL_ERROR,
    when: 'Permission for a server could not be got; data.reason says at which step, data.error has the code of the OAuth error if there was one.',
  },
  ERR_EXIT: { rpc: INTERNAL_ERROR, when: 'A server process ended unexpectedly; the message has its exit code and last words.' },
  ERR_SPAWN: { rpc: INTERNAL_ERROR, when: 'A server process could not be started.' },
  ERR_ANSWER_INVALID: {
    rpc: INTERNAL_ERROR,
    isForPeer: true,
    when: 'An answer from a handler of this side, or a result of the other side, does not have the shape it must have.',
  },
  ERR_DENIED: {
    rpc: INTERNAL_ERROR,
    when: 'A rule of the policy or a person said no; data.reasons says which, data.feedback has what the person said.',
  },
  ERR_QUARANTINED: {
    rpc: INTERNAL_ERROR,
    when: 'What was approved has changed since, or was never looked at; it is not used before somebody has looked at it.',
  },
  ERR_CONSENT: {
    rpc: INTERNAL_ERROR,
    when: 'A person would have to be asked, and nobody is there to ask, or nobody answered in time.',
  },
  ERR_CONFIG: { rpc: INTERNAL_ERROR, when: 'A configuration or a policy cannot be used; the message says where and what was expected.' },
  ERR_SECRET: { rpc: INTERNAL_ERROR, when: 'A secret, an input or a variable that a configuration refers to is not there.' },
  ERR_AUDIT: { rpc: INTERNAL_ERROR, when: 'The audit log could not be written, so nothing was done; or it is not whole.' },
  ERR_SERVER_UNKNOWN: {
    rpc: INTERNAL_ERROR,
    when: 'No server of that name is configured, or no tool, prompt or resource of that name is offered.',
  },
  ERR_SERVER_DOWN: {
    rpc: INTERNAL_ERROR,
    when: 'A server is not connected and could not be reached just now; data.retryAfterMs says when it is tried again.',
  },
  ERR_MODEL: { rpc: INTERNAL_ERROR, isForPeer: true, when: 'There is no model to ask, or it failed.' },
  ERR_BUDGET: {
    rpc: INTERNAL_ERROR,
    isForPeer: true,
    when: 'A server has used up what it may ask of the model; data.limit says which budget.',
  },
  ERR_UNSUPPORTED: { rpc: INTERNAL_ERROR, when: 'The revision spoken with this peer has no such thing; nothing was sent.' },
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
