/** Sends a request to the API within bounds, and makes the result of a tool from the response. */

import { readBody } from '../auth/fetch/bounded-body.ts'
import { isObject } from '../base/json.ts'
import { DEFAULT_READ_BOUNDS } from '../jsonrpc/read.ts'
import { scan } from '../jsonrpc/scan.ts'
import { ToolError } from '../protocol/errors.ts'
import { type CallToolResult, type ContentBlock, embed, image, text } from '../server/index.ts'
import type { BuiltRequest } from './build-request.ts'

export interface SendOptions {
  method: string
  maxBytes: number
  signal: AbortSignal
  fetch: typeof fetch
}

const MAX_REDIRECTS = 3
/** How much of an error of the API the model gets to see. */
const MAX_ERROR = 2000

/** Redirects are followed for GET and HEAD within the same origin only: credentials go nowhere else. */
export async function sendRequest(
  request: BuiltRequest,
  { method, maxBytes, signal, fetch }: SendOptions,
): Promise<{ response: Response; bytes: Uint8Array }> {
  const { headers, body } = request
  let { url } = request
  for (let hops = 0; ; hops++) {
    const response = await fetch(url, { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) }).catch(
      (error: unknown) => {
        if (signal.aborted) throw error
        throw new ToolError(`The API at ${url.origin} cannot be reached`)
      },
    )
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) {
      return { response, bytes: await readWhole(response, maxBytes, signal) }
    }
    await response.body?.cancel().catch(() => {})
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (next?.origin !== url.origin || (method !== 'GET' && method !== 'HEAD') || hops >= MAX_REDIRECTS)
      throw new ToolError(`The API redirected the request (HTTP ${response.status}), which is not followed`)
    url = next
  }
}

async function readWhole(response: Response, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const tooLarge = (): Error => new ToolError(`The response has more than ${maxBytes} bytes (maxResponseBytes)`)
  return readBody(response.body, maxBytes, tooLarge).catch((error: unknown) => {
    if (signal.aborted || error instanceof ToolError) throw error
    throw new ToolError(`The response of the API ended too early (HTTP ${response.status})`)
  })
}

export interface ResultOptions {
  /** Without credentials. */
  url: URL
  /** A sentence about the next page. */
  next: string | undefined
  /** Hides the credentials of the call. */
  hide(text: string): string
}

export function resultOf(response: Response, bytes: Uint8Array, { url, next, hide }: ResultOptions): CallToolResult {
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!response.ok) throw new ToolError(failure(response, hide(new TextDecoder().decode(bytes))))
  const result = bytes.length === 0 ? { content: [text(`Done (HTTP ${response.status})`)] } : contentOf(type, bytes, url, hide)
  return next === undefined ? result : { ...result, content: [...result.content, text(hide(next))] }
}

function contentOf(type: string, bytes: Uint8Array, url: URL, hide: ResultOptions['hide']): CallToolResult {
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) return jsonContent(type, new TextDecoder().decode(bytes), hide)
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(type)) return { content: [image(bytes, type)] }
  if (type === '' || /^text\/|xml$|javascript$|yaml$/.test(type)) return { content: [text(hide(new TextDecoder().decode(bytes)))] }
  // The query may contain a key.
  const block: ContentBlock = embed(`${url.origin}${url.pathname}`, bytes, type)
  return { content: [block] }
}

function jsonContent(type: string, received: string, hide: ResultOptions['hide']): CallToolResult {
  const written = hide(received)
  const value = parsed(written)
  if (value === undefined && parsed(received) === undefined)
    throw new ToolError(`The API answered with ${type} that is not JSON: ${written.slice(0, 200)}`)
  // A client refuses a message whose structure is too deep or too large. It can read the text.
  const isUsable = isObject(value) && scan(written, DEFAULT_READ_BOUNDS) === undefined
  return { content: [text(written)], ...(isUsable && { structuredContent: value }) }
}

/** Undefined if it is not JSON. */
function parsed(written: string): unknown {
  try {
    return JSON.parse(written)
  } catch {
    return undefined
  }
}

function failure(response: Response, whole: string): string {
  const { status, statusText } = response
  const said = whole.trim()
  const wait = response.headers.get('retry-after')
  const hint = status === 401 ? ' The credentials of this server were refused.' : ''
  const retry = wait === null ? '' : ` Try again after ${wait.slice(0, 50)}${/^\d+$/.test(wait) ? ' seconds' : ''}.`
  return `HTTP ${status}${statusText ? ` ${statusText}` : ''}.${hint}${retry}${said === '' ? '' : ` ${said.slice(0, MAX_ERROR)}`}`
}
