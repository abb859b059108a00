/** The meaning of each error, for docs/errors.md. It is not in src/, so that it does not add to the size of the package. */

import type { ErrorCode } from '../../src/protocol/errors.ts'

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  ERR_INVALID_REQUEST: 'A message is not valid in the current state, such as a request before initialize.',
  ERR_METHOD_NOT_FOUND: 'The revision has no such method, or the method needs a capability that was not declared.',
  ERR_INVALID_PARAMS: 'Parameters are missing or have the wrong type.',
  ERR_INTERNAL: 'A handler failed. The message contains only a reference; the log has the error under this reference.',
  ERR_TOOL_NOT_FOUND: 'The server offers this caller no tool of this name.',
  ERR_PROMPT_NOT_FOUND: 'The server offers this caller no prompt of this name.',
  ERR_RESOURCE_NOT_FOUND: 'No resource or template matches the URI (in a session: -32002).',
  ERR_CURSOR_INVALID: 'The cursor is not from this server, or it was changed.',
  ERR_STATE_INVALID: 'A requestState was changed, has expired, or belongs to another caller, request or server.',
  ERR_OUTPUT_INVALID: 'The result of a tool does not match its output schema.',
  ERR_CAPABILITY_MISSING: 'The operation needs a capability that the peer did not declare (in a session: -32603).',
  ERR_VERSION_UNSUPPORTED: 'The peers have no protocol revision in common (in a session: -32602).',
  ERR_HEADER_MISMATCH: 'HTTP headers that mirror the message are missing, malformed or different from the message (in a session: -32001).',
  ERR_URL_ELICITATION_REQUIRED: 'The person must visit a page first (only in 2025-11-25; other revisions ask in another way).',
  ERR_SCOPE: "The caller's credentials lack a scope. data.scopes lists all required scopes (over HTTP: 403).",
  ERR_RATE_LIMITED: 'A caller exceeds a rate limit. data.retryAfterMs says when to try again.',
  ERR_LIMIT: 'A limit was exceeded. The message names its option.',
  ERR_ASK: 'A handler asked in a way that cannot be replayed, such as two questions with the same name.',
  ERR_SCHEMA: 'A schema is refused: unknown dialect, a $ref to another document, too large, or not a form.',
  ERR_DEFINITION: 'The definition of a tool, resource or prompt is invalid, such as a name that is already in use.',
  ERR_TIMEOUT: 'An answer did not arrive, or a handler did not finish, in time.',
  ERR_CANCELLED: 'A task was cancelled, by this client or by the server. data.taskId names it.',
  ERR_CLOSED:
    'The connection is closed, or it closed before the answer arrived. As the reason of `ctx.signal`, data.reason says why the server ended the request.',
  ERR_NETWORK: 'The server could not be reached over the network, or the connection broke.',
  ERR_HTTP: 'The server answered with an unexpected HTTP status. data.status has it.',
  ERR_NO_ENDPOINT:
    'The URL answers 400, 404 or 405 without an MCP message. There is no MCP server at this URL, or only one for an older transport.',
  ERR_SESSION_GONE: 'The server no longer knows the session. It did not process the request.',
  ERR_INSECURE: 'Data would leave this machine unencrypted, or go to another origin than the requested one.',
  ERR_URL_REFUSED:
    'A foreign URL is not fetched, or its redirect is not followed. data.reason says why, such as an address that is not public.',
  ERR_STORE: 'Stored data could not be written or locked. The earlier data is intact.',
  ERR_STORE_DOWN: 'The store that replicas share cannot be reached. Try again later.',
  ERR_STORE_KEY:
    'A value in the store that replicas share cannot be opened: this replica has other keys, or the value was changed. Give all replicas the same keys.',
  ERR_AUTH:
    'Authorization failed. data.reason names the step, refused for status 401; data.error has the OAuth error code, data.header the header of a key.',
  ERR_EXIT: 'A server process ended unexpectedly. The message has its exit code and its last output.',
  ERR_SPAWN: 'A server process could not be started.',
  ERR_ANSWER_INVALID: 'An answer from a handler, or a result from the peer, has an invalid shape.',
  ERR_DENIED: "A policy rule or the person denied the action. data.reasons lists the reasons; data.feedback has the person's message.",
  ERR_QUARANTINED: 'A definition is new, or changed after its approval. It cannot be used until a person approves it.',
  ERR_CONSENT: "The action needs a person's consent, but no person can be asked, or the person did not answer in time.",
  ERR_CONFIG: 'A configuration or a policy is invalid. The message says where, and what was expected.',
  ERR_SECRET: 'A configuration refers to a secret, an input or a variable that does not exist.',
  ERR_AUDIT: 'The audit log could not be written, so the action was not performed; or the log is damaged.',
  ERR_SERVER_UNKNOWN: 'There is no server of this name, or no tool, prompt or resource of this name.',
  ERR_SERVER_DOWN: 'The server is not connected and cannot be reached at the moment. data.retryAfterMs says when the host tries again.',
  ERR_MODEL: 'There is no model, or the model failed.',
  ERR_BUDGET: 'A server has used up its sampling budget. data.limit says which one.',
  ERR_UNSUPPORTED: "The peer's revision lacks this feature. Nothing was sent.",
}
