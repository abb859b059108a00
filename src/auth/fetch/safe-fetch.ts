/**
 * The one way to fetch what somebody else named: metadata, keys, client documents, icons. It judges the URL, then every
 * address of its host, connects to an address that it judged, judges again what a redirect names, and takes no more than
 * it was prepared for. It sends no cookies, and credentials only with a POST, which follows nothing.
 */

import { reachOf } from '../../base/address/ip-address.ts'
import { McpError } from '../../protocol/errors.ts'
import { type AllowedReach, type ForeignUrlOptions, foreignUrlCheck, urlRefused } from './foreign-url.ts'

export interface SafeFetchOptions extends ForeignUrlOptions {
  limits?: Partial<SafeFetchLimits> | undefined
  /**
   * Asked instead of making a connection ourselves, such as through a proxy that guards what leaves a network. URLs and
   * redirects are still judged; what names lead to is then for the proxy to judge.
   */
  fetch?: typeof fetch | undefined
  /** Looks names up instead of the system; all addresses that a name has. */
  resolve?: Resolve | undefined
  /** Certificates to trust besides the usual ones. */
  ca?: string | undefined
}

export interface SafeFetchLimits {
  /** How large a document may be, after decompression. */
  maxDocumentBytes: number
  /** How long it may take in all, redirects and body included. */
  fetchTimeoutMs: number
  /** How often a document may be somewhere else. */
  maxDocumentRedirects: number
}

export const DEFAULT_SAFE_FETCH_LIMITS: SafeFetchLimits = {
  maxDocumentBytes: 256 * 1024,
  fetchTimeoutMs: 10_000,
  maxDocumentRedirects: 3,
}

export type Resolve = (host: string) => Promise<readonly string[]>

export interface SafeFetchInit {
  method?: 'GET' | 'POST' | undefined
  headers?: Record<string, string> | Headers | undefined
  body?: string | undefined
  /** `manual`: a redirect is an answer like any other. The default is to follow those of a GET. */
  redirect?: 'manual' | 'follow' | undefined
  signal?: AbortSignal | undefined
}

/** Resolves with a response whose body has arrived and is within bounds. */
export type SafeFetch = (url: string | URL, init?: SafeFetchInit) => Promise<Response>

/** One request to one URL; redirects are not its business. */
export type Connect = (
  url: URL,
  init: RequestInit & { headers: Record<string, string> },
  mayReach: (address: string) => boolean,
) => Promise<Response>

export function safeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const limits = { ...DEFAULT_SAFE_FETCH_LIMITS, ...options.limits }
  const judge = foreignUrlCheck(options)
  let connecting: Promise<Connect> | undefined

  return async (given, { method = 'GET', headers = {}, body, redirect = 'follow', signal } = {}) => {
    const timeout = AbortSignal.timeout(limits.fetchTimeoutMs)
    const ends = signal ? AbortSignal.any([signal, timeout]) : timeout
    const init = {
      method,
      headers: allowedHeaders(headers, method),
      redirect: 'manual' as const,
      signal: ends,
      ...(body === undefined ? {} : { body }),
    }
    connecting ??= connector(options)
    let { url, reach } = judge(given)
    try {
      const connect = await connecting
      for (let hops = 0; ; hops++) {
        const response = await connect(url, init, allows(reach))
        const next = locationOf(response, url)
        if (next === undefined || redirect === 'manual') return await received(response, url, limits)
        await response.body?.cancel()
        if (method !== 'GET' || hops >= limits.maxDocumentRedirects) throw urlRefused('redirect', url)
        ;({ url, reach } = judge(next))
      }
    } catch (error) {
      throw asMcpError(error, url, { timeout, signal, limits })
    }
  }
}

const allows =
  (reach: AllowedReach) =>
  (address: string): boolean =>
    reach === 'any' || reachOf(address) === reach

/** Node connects to addresses that it was told; where there is only `fetch`, the URL is all that can be judged. */
async function connector({ fetch: own, resolve, ca }: SafeFetchOptions): Promise<Connect> {
  if (own === undefined && globalThis.process?.versions?.node !== undefined) {
    const { checkedConnect: judgedConnect } = await import('./node/checked-connect.ts')
    return judgedConnect({ resolve, ca })
  }
  const ask = own ?? fetch
  // Not every runtime knows the option; pages are where there are cookies.
  const noCookies: RequestInit = 'document' in globalThis ? { credentials: 'omit', referrerPolicy: 'no-referrer' } : {}
  return (url, init) => ask(url.href, { ...init, ...noCookies })
}

/** What a request may carry: never a cookie, and credentials only where they are meant to go, to an endpoint by POST. */
function allowedHeaders(headers: Record<string, string> | Headers, method: string): Record<string, string> {
  const kept = (headers instanceof Headers ? [...headers] : Object.entries(headers)).filter(([name]) => {
    const lower = name.toLowerCase()
    return lower !== 'cookie' && lower !== 'host' && (lower !== 'authorization' || method === 'POST')
  })
  return Object.fromEntries(kept)
}

function locationOf(response: Response, from: URL): URL | undefined {
  // A page in a browser is not told where a redirect leads.
  if (response.type === 'opaqueredirect') throw urlRefused('redirect', from)
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined
  const location = response.headers.get('location')
  if (location === null || !URL.canParse(location, from.href)) throw urlRefused('redirect', from)
  return new URL(location, from)
}

async function received(response: Response, url: URL, { maxDocumentBytes }: SafeFetchLimits): Promise<Response> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    if (size > maxDocumentBytes) {
      await reader.cancel().catch(() => {})
      throw new McpError('ERR_LIMIT', `${url.origin} answers with more than ${maxDocumentBytes} bytes (maxDocumentBytes)`)
    }
    chunks.push(value)
  }
  const { status } = response
  const hasNoBody = status === 204 || status === 205 || status === 304
  const headers = new Headers(response.headers)
  // They describe the body as it travelled.
  for (const name of ['content-encoding', 'content-length', 'set-cookie']) headers.delete(name)
  return new Response(hasNoBody ? null : joined(chunks, size), { status, headers })
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

interface Circumstances {
  timeout: AbortSignal
  signal: AbortSignal | undefined
  limits: SafeFetchLimits
}

function asMcpError(error: unknown, url: URL, { timeout, signal, limits }: Circumstances): unknown {
  if (signal?.aborted) return signal.reason
  if (timeout.aborted) return new McpError('ERR_TIMEOUT', `${url.origin} took longer than ${limits.fetchTimeoutMs} ms (fetchTimeoutMs)`)
  // A connection that is not made because of our own judgement comes wrapped into the fault of the connection.
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof McpError) return cause
  return new McpError('ERR_NETWORK', `${url.origin} could not be reached`, { cause: error })
}
