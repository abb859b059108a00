/** Errors of the API, and the HTTP status of each error of the host. */

import { type ErrorCode, McpError, RemoteError } from '../client/index.ts'
import type { ApiErrorBody, ApiErrorCode } from './api.ts'

/** A request that the console refuses itself. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ApiErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    code: ApiErrorCode,
    message: string,
    { headers = {}, details = {} }: { headers?: Readonly<Record<string, string>>; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
    this.details = details
  }
}

export const notFound = (message: string): ApiError => new ApiError(404, 'ERR_NOT_FOUND', message)

export const conflict = (message: string): ApiError => new ApiError(409, 'ERR_CONFLICT', message)

export const invalid = (message: string): ApiError => new ApiError(400, 'ERR_INVALID_PARAMS', message)

export const tooMany = (message: string): ApiError => new ApiError(429, 'ERR_LIMIT', message)

/** Every other code is an error of the host itself: 500. */
const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  ERR_INVALID_REQUEST: 409,
  ERR_INVALID_PARAMS: 400,
  ERR_ANSWER_INVALID: 400,
  ERR_CONFIG: 400,
  ERR_SECRET: 400,
  ERR_INSECURE: 400,
  ERR_UNSUPPORTED: 400,
  ERR_SCHEMA: 400,
  ERR_SERVER_UNKNOWN: 404,
  ERR_TOOL_NOT_FOUND: 404,
  ERR_PROMPT_NOT_FOUND: 404,
  ERR_RESOURCE_NOT_FOUND: 404,
  ERR_DENIED: 403,
  ERR_QUARANTINED: 403,
  ERR_CONSENT: 409,
  ERR_LIMIT: 429,
  ERR_RATE_LIMITED: 429,
  ERR_BUDGET: 429,
  ERR_MODEL: 502,
  ERR_NETWORK: 502,
  ERR_HTTP: 502,
  ERR_NO_ENDPOINT: 502,
  ERR_EXIT: 502,
  ERR_SPAWN: 502,
  ERR_AUTH: 502,
  ERR_CAPABILITY_MISSING: 502,
  ERR_METHOD_NOT_FOUND: 502,
  ERR_SERVER_DOWN: 503,
  ERR_CLOSED: 503,
  ERR_TIMEOUT: 504,
}

/** The status and the body for an error. The text of an unexpected error stays here, because it may contain anything. */
export function errorReply(error: unknown): { status: number; body: ApiErrorBody; headers: Readonly<Record<string, string>> } {
  if (error instanceof ApiError) {
    const { status, code, message, details, headers } = error
    return { status, body: { error: { code, message, ...details } }, headers }
  }
  if (error instanceof McpError) {
    const { code, message, data } = error
    return { status: STATUS[code] ?? 500, body: { error: { code, message, ...(data !== undefined && { data }) } }, headers: {} }
  }
  if (error instanceof RemoteError) {
    const { code, message, data } = error
    return { status: 502, body: { error: { code: 'ERR_REMOTE', message, data: { code, data } } }, headers: {} }
  }
  return { status: 500, body: { error: { code: 'ERR_INTERNAL', message: 'The console failed. Its log has the details' } }, headers: {} }
}

/** Whether `errorReply` hides the text of the error. */
export const isUnexpected = (error: unknown): boolean =>
  !(error instanceof ApiError || error instanceof McpError || error instanceof RemoteError)
