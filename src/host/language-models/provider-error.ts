/** Turns provider errors into errors that reveal nothing about the account to servers, and never contain the key. */

import { isObject } from '../../base/json.ts'
import { redactHead } from '../../base/text/redact.ts'
import { McpError } from '../../protocol/errors.ts'

/**
 * Message and data may reach the server that asked, so they contain the status only. The provider's text is in the cause, for the
 * person, with secrets redacted. The original error is not kept, because it contains the whole request with its headers.
 */
export function modelFailure(model: string, error: unknown, secrets: readonly string[]): McpError {
  const status = statusOf(error)
  const data = status === undefined ? undefined : { status }
  return new McpError('ERR_MODEL', `The model ${model} ${inWords(status)}`, { data, cause: new Error(detail(error, secrets)) })
}

function statusOf(error: unknown): number | undefined {
  const status = isObject(error) ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

function inWords(status: number | undefined): string {
  if (status === undefined) return 'could not be reached, or the connection broke'
  if (status === 401 || status === 403) return `refused the credentials (HTTP ${status})`
  if (status === 404) return 'is not known to its provider (HTTP 404)'
  if (status === 429) return 'refused the request because of too many requests (HTTP 429)'
  if (status >= 500) return `failed at its provider (HTTP ${status})`
  return `did not accept the request (HTTP ${status})`
}

const MAX_DETAIL_CHARS = 500
const MIN_SECRET_CHARS = 4

function detail(error: unknown, secrets: readonly string[]): string {
  const said = secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), textOf(error))
  return redactHead(said, MAX_DETAIL_CHARS)
}

function textOf(error: unknown): string {
  if (error instanceof Error) {
    const reason = isObject(error.cause) && typeof error.cause.message === 'string' ? `: ${error.cause.message}` : ''
    return error.message + reason
  }
  if (typeof error === 'string') return error
  if (isObject(error) && typeof error.message === 'string') return error.message
  return 'The provider did not give a reason'
}
