/** Sends a request to the API within bounds, and makes the result of a tool from the response. */

import { readBody } from '../auth/fetch/bounded-body.ts'
import { isObject } from '../base/json.ts'
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
      const tooLarge = (): Error => new ToolError(`The response has more than ${maxBytes} bytes (maxResponseBytes)`)
      return { response, bytes: await readBody(response.body, maxBytes, tooLarge) }
    }
    await response.body?.cancel()
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (next?.origin !== url.origin || (method !== 'GET' && method !== 'HEAD') || hops >= MAX_REDIRECTS)
      throw new ToolError(`The API redirected the request (HTTP ${response.status}), which is not followed`)
    url = next
  }
}

export function resultOf(response: Response, bytes: Uint8Array, url: URL, next: string | undefined): CallToolResult {
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!response.ok) throw new ToolError(failure(response, bytes))
  const result = bytes.length === 0 ? { content: [text(`Done (HTTP ${response.status})`)] } : contentOf(type, bytes, url)
  return next === undefined ? result : { ...result, content: [...result.content, text(next)] }
}

function contentOf(type: string, bytes: Uint8Array, url: URL): CallToolResult {
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) {
    const written = new TextDecoder().decode(bytes)
    try {
      const value: unknown = JSON.parse(written)
      return { content: [text(written)], ...(isObject(value) && { structuredContent: value }) }
    } catch {
      throw new ToolError(`The API answered with ${type} that is not JSON: ${written.slice(0, 200)}`)
    }
  }
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(type)) return { content: [image(bytes, type)] }
  if (type === '' || /^text\/|xml$|javascript$|yaml$/.test(type)) return { content: [text(new TextDecoder().decode(bytes))] }
  // The query may contain a key.
  const block: ContentBlock = embed(`${url.origin}${url.pathname}`, bytes, type)
  return { content: [block] }
}

function failure(response: Response, bytes: Uint8Array): string {
  const { status, statusText } = response
  const said = new TextDecoder().decode(bytes).trim()
  const wait = response.headers.get('retry-after')
  const hint = status === 401 ? ' The credentials of this server were refused.' : ''
  const retry = wait === null ? '' : ` Try again after ${wait.slice(0, 50)}${/^\d+$/.test(wait) ? ' seconds' : ''}.`
  return `HTTP ${status}${statusText ? ` ${statusText}` : ''}.${hint}${retry}${said === '' ? '' : ` ${said.slice(0, MAX_ERROR)}`}`
}
