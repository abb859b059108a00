/** The requests of a login: bounded in time and size, never redirected, with JSON responses. */

import { objectIn } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { SafeFetch, SafeFetchInit } from '../fetch/safe-fetch.ts'

/** The limits of a login. */
export interface OAuthLimits {
  /** The longest time for one request. */
  requestTimeoutMs: number
  /** How long a person may take to log in. */
  loginTimeoutMs: number
}

/** The defaults of `limits`. */
export const DEFAULT_OAUTH_LIMITS: OAuthLimits = {
  requestTimeoutMs: 10_000,
  loginTimeoutMs: 10 * 60_000,
}

/** The settings that all requests of one login share. */
export interface FetchContext {
  /** Also bounds the size of responses. */
  fetch: SafeFetch
  limits: OAuthLimits
  signal?: AbortSignal | undefined
  /** The protocol version of the MCP request: servers of the first revision with authorization may require it. */
  version?: string | undefined
}

export interface JsonResponse {
  status: number
  headers: Headers
  /** Undefined if the body is not a JSON object. */
  json: Record<string, unknown> | undefined
}

/** Throws ERR_NETWORK, ERR_TIMEOUT or ERR_LIMIT. Returns a response of any status. */
export async function fetchJson({ fetch, limits, signal }: FetchContext, url: string, init: SafeFetchInit): Promise<JsonResponse> {
  const where = withoutQuery(url)
  const timeout = AbortSignal.timeout(limits.requestTimeoutMs)
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    return { status: response.status, headers: response.headers, json: parseJson(response, await response.text()) }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (timeout.aborted)
      throw new McpError('ERR_TIMEOUT', `${where} did not answer within ${limits.requestTimeoutMs} ms (limits.requestTimeoutMs)`)
    if (error instanceof McpError) throw error
    throw new McpError('ERR_NETWORK', `${where} could not be reached: ${shortReason(error)}`, { cause: error })
  }
}

export const fetchDocument = (context: FetchContext, url: string): Promise<JsonResponse> =>
  fetchJson(context, url, {
    headers: { accept: 'application/json', ...(context.version !== undefined && { 'mcp-protocol-version': context.version }) },
  })

/** A URL that is safe to show: a query may contain a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

/** Accepts `application/json` and every type that ends in `+json`, as real authorization servers send both. */
function parseJson(response: Response, text: string): Record<string, unknown> | undefined {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) return undefined
  return objectIn(text)
}

function shortReason(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { code } = (inner ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : inner instanceof Error ? inner.name : 'unknown error'
}
