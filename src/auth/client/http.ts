/** One request to somebody who takes part in a login: bounded in time and size, never redirected, answered in JSON. */

import { McpError } from '../../protocol/errors.ts'
import type { AuthFetch, AuthFetchInit } from '../store/token-store.ts'

export interface OAuthLimits {
  /** How long one request may take. */
  requestTimeoutMs: number
  /** The longest document or answer. */
  maxDocumentBytes: number
  /** How long a person may take to log in. */
  loginTimeoutMs: number
}

export const DEFAULT_OAUTH_LIMITS: OAuthLimits = {
  requestTimeoutMs: 10_000,
  maxDocumentBytes: 256 * 1024,
  loginTimeoutMs: 10 * 60_000,
}

export interface FetchContext {
  fetch: AuthFetch
  limits: OAuthLimits
  signal?: AbortSignal | undefined
  /** The protocol version of the request that needs permission: servers of the first revision with authorization may look at it. */
  version?: string | undefined
}

export interface JsonResponse {
  status: number
  headers: Headers
  /** Undefined when the answer is no JSON object. */
  json: Record<string, unknown> | undefined
}

export type RequestInit = Pick<AuthFetchInit, 'method' | 'headers'> & { body?: string }

/** Throws ERR_NETWORK, ERR_TIMEOUT or ERR_LIMIT; any status is an answer. */
export async function fetchJson({ fetch, limits, signal }: FetchContext, url: string, question: RequestInit): Promise<JsonResponse> {
  const where = withoutQuery(url)
  const timeout = AbortSignal.timeout(limits.requestTimeoutMs)
  try {
    const response = await fetch(url, {
      ...question,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await boundedText(response, limits.maxDocumentBytes, where)
    return { status: response.status, headers: response.headers, json: objectIn(response, text) }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (timeout.aborted) throw new McpError('ERR_TIMEOUT', `${where} did not answer within ${limits.requestTimeoutMs} ms`)
    if (error instanceof McpError) throw error
    throw new McpError('ERR_NETWORK', `${where} could not be reached: ${wordsOf(error)}`, { cause: error })
  }
}

export const fetchDocument = (exchange: FetchContext, url: string): Promise<JsonResponse> =>
  fetchJson(exchange, url, {
    method: 'GET',
    headers: { accept: 'application/json', ...(exchange.version !== undefined && { 'mcp-protocol-version': exchange.version }) },
  })

/** A URL as it may be shown: a query may hold a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

async function boundedText(response: Response, maxBytes: number, where: string): Promise<string> {
  if (!response.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (size > maxBytes) throw new McpError('ERR_LIMIT', `${where} sent more than ${maxBytes} bytes (limits.maxDocumentBytes)`)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return new TextDecoder().decode(whole)
}

function objectIn(response: Response, text: string): Record<string, unknown> | undefined {
  const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function wordsOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const { code } = (inner ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : inner instanceof Error ? inner.name : 'unknown error'
}
