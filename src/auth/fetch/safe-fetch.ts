/**
 * The only way to fetch a URL that a peer named: metadata, keys, client documents, icons. It checks the URL, every address
 * that its host resolves to and every redirect, and bounds time and size. It never sends cookies, and sends credentials only
 * with a POST, which follows no redirects.
 */

import { reachOf } from '../../base/address/ip-address.ts'
import { checkMembers } from '../../protocol/check-members.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { readBody } from './bounded-body.ts'
import { type AllowedReach, type ForeignUrlOptions, foreignUrlCheck, urlRefused } from './foreign-url.ts'
import { plainConnect } from './plain-connect.ts'

/** Options for `safeFetch`. */
export interface SafeFetchOptions extends ForeignUrlOptions {
  /** Limits that differ from `DEFAULT_SAFE_FETCH_LIMITS`. */
  limits?: Partial<SafeFetchLimits> | undefined
  /**
   * Makes the requests instead of the built-in connection, for example through a proxy. URLs and redirects are still
   * checked; the proxy must check the addresses that names resolve to.
   */
  fetch?: typeof fetch | undefined
  /** Replaces the DNS lookup of the system. Must return all addresses of a name. */
  resolve?: Resolve | undefined
  /** Certificates of additional authorities to trust, in PEM form. */
  ca?: string | undefined
}

/** The limits of one request. */
export interface SafeFetchLimits {
  /** The largest body, after decompression. */
  maxDocumentBytes: number
  /** The longest time for the whole request, including redirects and the body. */
  fetchTimeoutMs: number
}

/** Redirects that are followed. Each target is checked again; a longer chain is more likely a loop than a document. */
const MAX_REDIRECTS = 3

/** The defaults of `limits`. */
export const DEFAULT_SAFE_FETCH_LIMITS: SafeFetchLimits = {
  maxDocumentBytes: 256 * 1024,
  fetchTimeoutMs: 10_000,
}

/** Returns all addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** One request: a part of the options of `fetch`. */
export interface SafeFetchInit {
  /** Default: GET. */
  method?: 'GET' | 'POST' | undefined
  /** The headers to send. */
  headers?: Record<string, string> | Headers | undefined
  /** The body of a POST. */
  body?: string | undefined
  /** `manual` returns a redirect as a response. `follow` follows the redirects of a GET. Default: `follow`. */
  redirect?: 'manual' | 'follow' | undefined
  /** Cancels the request. */
  signal?: AbortSignal | undefined
}

/** Resolves when the whole body has arrived within the limits. */
export type SafeFetch = (url: string | URL, init?: SafeFetchInit) => Promise<Response>

/** Sends one request to one URL without following redirects. */
export type Connect = (
  url: URL,
  init: RequestInit & { headers: Record<string, string> },
  mayReach: (address: string) => boolean,
) => Promise<Response>

/**
 * Creates a fetch function for URLs that a peer named.
 *
 * @example
 * ```ts
 * const fetchIcon = safeFetch({ userUrl: 'https://mcp.example.com/mcp' })
 * const response = await fetchIcon('https://cdn.example.com/icon.png') // throws ERR_URL_REFUSED for private addresses
 * ```
 */
export function safeFetch(options: SafeFetchOptions = {}): SafeFetch {
  checkMembers('safeFetch', options, { userUrl: 1, allowHosts: 1, allowPorts: 1, limits: 1, fetch: 1, resolve: 1, ca: 1 })
  const limits = withDefaults(DEFAULT_SAFE_FETCH_LIMITS, options.limits)
  const check = foreignUrlCheck(options)
  let connecting: Promise<Connect> | undefined

  return async (given, { method = 'GET', headers = {}, body, redirect = 'follow', signal } = {}) => {
    const timeout = AbortSignal.timeout(limits.fetchTimeoutMs)
    const ends = signal ? AbortSignal.any([signal, timeout]) : timeout
    const init = {
      method,
      headers: allowedHeaders(headers, method),
      redirect: 'manual' as const,
      signal: ends,
      ...(body !== undefined && { body }),
    }
    connecting ??= connector(options)
    let { url, reach } = check(given)
    try {
      const connect = await connecting
      for (let hops = 0; ; hops++) {
        const response = await connect(url, init, allows(reach))
        const next = locationOf(response, url)
        if (next === undefined || redirect === 'manual') return await readResponse(response, url, limits)
        await response.body?.cancel()
        if (method !== 'GET' || hops >= MAX_REDIRECTS) throw urlRefused('redirect', url)
        ;({ url, reach } = check(next))
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

/** Node can connect to a checked address. Other runtimes have only `fetch`, so there only the URL is checked. */
async function connector({ fetch: own, resolve, ca }: SafeFetchOptions): Promise<Connect> {
  if (own === undefined && globalThis.process?.versions?.node !== undefined) {
    const { checkedConnect: judgedConnect } = await import('./node/checked-connect.ts')
    return judgedConnect({ resolve, ca })
  }
  return plainConnect(own)
}

/** Drops cookies, and credentials from everything but a POST. */
function allowedHeaders(headers: Record<string, string> | Headers, method: string): Record<string, string> {
  const kept = (headers instanceof Headers ? [...headers] : Object.entries(headers)).filter(([name]) => {
    const lower = name.toLowerCase()
    return lower !== 'cookie' && lower !== 'host' && (lower !== 'authorization' || method === 'POST')
  })
  return Object.fromEntries(kept)
}

function locationOf(response: Response, from: URL): URL | undefined {
  // A browser hides the target of a redirect from the page.
  if (response.type === 'opaqueredirect') throw urlRefused('redirect', from)
  if (![301, 302, 303, 307, 308].includes(response.status)) return undefined
  const location = response.headers.get('location')
  if (location === null || !URL.canParse(location, from.href)) throw urlRefused('redirect', from)
  return new URL(location, from)
}

async function readResponse(response: Response, url: URL, { maxDocumentBytes }: SafeFetchLimits): Promise<Response> {
  const body = await readBody(
    response.body,
    maxDocumentBytes,
    () => new McpError('ERR_LIMIT', `${url.origin} sent more than ${maxDocumentBytes} bytes (maxDocumentBytes)`),
  )
  const { status } = response
  const hasNoBody = status === 204 || status === 205 || status === 304
  const headers = new Headers(response.headers)
  // They describe the body before decompression.
  for (const name of ['content-encoding', 'content-length', 'set-cookie']) headers.delete(name)
  return new Response(hasNoBody ? null : body, { status, headers })
}

interface Circumstances {
  timeout: AbortSignal
  signal: AbortSignal | undefined
  limits: SafeFetchLimits
}

function asMcpError(error: unknown, url: URL, { timeout, signal, limits }: Circumstances): unknown {
  if (signal?.aborted) return signal.reason
  if (timeout.aborted) return new McpError('ERR_TIMEOUT', `${url.origin} took longer than ${limits.fetchTimeoutMs} ms (fetchTimeoutMs)`)
  // A refusal during the DNS lookup arrives wrapped in a connection error.
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof McpError) return cause
  return new McpError('ERR_NETWORK', `${url.origin} could not be reached`, { cause: error })
}
