/** When each error happens, for the documentation. Apart from the table, so that programs do not carry it along. */

import type { ErrorCode } from '../../src/protocol/errors.ts'

export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  ERR_INVALID_REQUEST: 'A message does not fit the state of the conversation, such as a request before initialize.',
  ERR_METHOD_NOT_FOUND: 'The method does not exist in the revision spoken, or needs a capability that was not declared.',
  ERR_INVALID_PARAMS: 'Parameters are missing or of the wrong type.',
  ERR_INTERNAL: 'A handler failed. The text is masked; the reference in it is in the log.',
  ERR_TOOL_NOT_FOUND: 'No tool of that name is offered to this caller.',
  ERR_PROMPT_NOT_FOUND: 'No prompt of that name is offered to this caller.',
  ERR_RESOURCE_NOT_FOUND: 'No resource or template matches the URI (-32002 where there is a session).',
  ERR_CURSOR_INVALID: 'A cursor was not made by this server, or was altered.',
  ERR_STATE_INVALID: 'A requestState is altered, expired, or belongs to another caller or request.',
  ERR_OUTPUT_INVALID: 'A tool returned something that does not match its output schema.',
  ERR_CAPABILITY_MISSING: 'The other side has not declared a capability that the operation needs (-32603 where there is a session).',
  ERR_VERSION_UNSUPPORTED: 'The two sides have no protocol revision in common (-32602 where there is a session).',
  ERR_HEADER_MISMATCH:
    'HTTP headers that mirror the message are missing, malformed or say something else (-32001 where there is a session).',
  ERR_URL_ELICITATION_REQUIRED:
    'A page must be visited first (only in the one revision that has the code; elsewhere the question is asked in another way).',
  ERR_SCOPE: 'The credentials of the caller lack a scope; data.scopes has all that are needed (over HTTP the answer is 403 before that).',
  ERR_RATE_LIMITED: 'A caller exceeds a rate limit; data.retryAfterMs says when to come back.',
  ERR_LIMIT: 'Something grew past a bound; the message names the option that sets it.',
  ERR_ASK: 'A handler asked in a way that cannot be replayed, such as two questions of one name.',
  ERR_SCHEMA: 'A schema is refused: unknown dialect, a $ref that leaves the document, too large, or not a form.',
  ERR_DEFINITION: 'A tool, resource or prompt is defined in a way that cannot work, such as a name used twice.',
  ERR_TIMEOUT: 'No answer, or no end of a handler, within the time allowed.',
  ERR_CLOSED: 'The connection is closed, or closed while an answer was waited for.',
  ERR_NETWORK: 'A server could not be reached over the network, or the connection to it broke.',
  ERR_HTTP: 'A server answered with an HTTP status that is no answer; data.status has it.',
  ERR_NO_ENDPOINT:
    'A URL answers 400, 404 or 405 and nothing of the protocol: nothing is served there, or something older than what was asked.',
  ERR_SESSION_GONE: 'The server no longer knows the session; the request was not looked at.',
  ERR_INSECURE: 'Something would leave this machine unencrypted, or go to another origin than was asked for.',
  ERR_URL_REFUSED:
    'A URL that somebody else named is not asked, or not followed; data.reason says why, such as an address that is not public.',
  ERR_STORE: 'What is kept on this machine could not be written or locked; what was there before is still there.',
  ERR_AUTH:
    'Permission for a server could not be got; data.reason says at which step, data.error has the code of the OAuth error if there was one.',
  ERR_EXIT: 'A server process ended unexpectedly; the message has its exit code and last words.',
  ERR_SPAWN: 'A server process could not be started.',
  ERR_ANSWER_INVALID: 'An answer from a handler of this side, or a result of the other side, does not have the shape it must have.',
  ERR_DENIED: 'A rule of the policy or a person said no; data.reasons says which, data.feedback has what the person said.',
  ERR_QUARANTINED: 'What was approved has changed since, or was never looked at; it is not used before somebody has looked at it.',
  ERR_CONSENT: 'A person would have to be asked, and nobody is there to ask, or nobody answered in time.',
  ERR_CONFIG: 'A configuration or a policy cannot be used; the message says where and what was expected.',
  ERR_SECRET: 'A secret, an input or a variable that a configuration refers to is not there.',
  ERR_AUDIT: 'The audit log could not be written, so nothing was done; or it is not whole.',
  ERR_SERVER_UNKNOWN: 'No server of that name is configured, or no tool, prompt or resource of that name is offered.',
  ERR_SERVER_DOWN: 'A server is not connected and could not be reached just now; data.retryAfterMs says when it is tried again.',
  ERR_MODEL: 'There is no model to ask, or it failed.',
  ERR_BUDGET: 'A server has used up what it may ask of the model; data.limit says which budget.',
  ERR_UNSUPPORTED: 'The revision spoken with this peer has no such thing; nothing was sent.',
}
