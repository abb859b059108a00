/** A JSON document from an authorization server that the operator has named: bounded in time and size, no redirects. */

import { isObject } from '../../base/json.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface FetchBounds {
  fetch: Fetch
  fetchTimeoutMs: number
  maxDocumentBytes: number
}

export interface JsonAnswer {
  status: number
  /** Undefined when the body is no JSON object. */
  body: Record<string, unknown> | undefined
}

/** Throws when there is no answer within the bounds. */
export async function fetchJson(url: string, init: RequestInit, bounds: FetchBounds): Promise<JsonAnswer> {
  const signal = AbortSignal.timeout(bounds.fetchTimeoutMs)
  const response = await bounds.fetch(url, { ...init, redirect: 'manual', signal })
  const text = await readText(response, bounds.maxDocumentBytes)
  return { status: response.status, body: parsed(text) }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      reader.cancel().catch(() => {})
      throw new Error(`The document is longer than ${maxBytes} bytes (limits.maxDocumentBytes)`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
