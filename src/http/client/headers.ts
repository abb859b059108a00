/** The headers of a request: content types, the session, and the parts of the message that proxies may read. */

import type { Params } from '../../jsonrpc/message.ts'
import type { About } from '../../protocol/interfaces/link.ts'
import { METHODS } from '../../protocol/methods.ts'
import { encodeHeaderValue } from '../header-value.ts'

const POST_HEADERS: readonly string[] = [
  'content-type',
  'application/json',
  'accept',
  'application/json, text/event-stream',
  // A compressed body can be a thousand times larger than its transfer size.
  'accept-encoding',
  'identity',
]
const GET_HEADERS: readonly string[] = ['accept', 'text/event-stream', 'accept-encoding', 'identity', 'cache-control', 'no-store']

/** The headers that repeat in every request of a session. */
export interface SessionHeaders {
  id: string | undefined
  version: string | undefined
}

/** @param about undefined for a response, which has no method */
export function postHeaders(about: About | undefined, session: SessionHeaders): string[] {
  const headers = [...POST_HEADERS]
  pushSession(headers, session)
  if (about === undefined) return headers
  headers.push('mcp-method', encodeHeaderValue(about.method))
  const name = nameIn(about.method, about.params)
  if (name !== undefined) headers.push('mcp-name', encodeHeaderValue(name))
  if (about.mirrored) for (const { name: param, value } of about.mirrored) headers.push(`mcp-param-${param}`, encodeHeaderValue(value))
  return headers
}

export function getHeaders(session: SessionHeaders, lastEventId?: string): string[] {
  const headers = [...GET_HEADERS]
  pushSession(headers, session)
  if (lastEventId !== undefined) headers.push('last-event-id', lastEventId)
  return headers
}

export function deleteHeaders(session: SessionHeaders): string[] {
  const headers: string[] = []
  pushSession(headers, session)
  return headers
}

function pushSession(headers: string[], { id, version }: SessionHeaders): void {
  if (version !== undefined) headers.push('mcp-protocol-version', version)
  if (id !== undefined) headers.push('mcp-session-id', id)
}

function nameIn(method: string, params: Params | undefined): string | undefined {
  const member = METHODS.get(method)?.target ?? (method.startsWith('tasks/') ? 'taskId' : undefined)
  const name = member === undefined ? undefined : params?.[member]
  return typeof name === 'string' ? name : undefined
}

/** The media type of a body, without its parameters. */
export const mediaTypeOf = (contentType: string | readonly string[] | undefined): string =>
  String(contentType ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase() ?? ''
