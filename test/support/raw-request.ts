/** A request as the text that goes over the wire, for tests that send several at once or break off in the middle. */

export interface RawRequest {
  method?: string
  path?: string
  headers?: Readonly<Record<string, string | string[]>>
  /** An object is sent as JSON. */
  body?: unknown
}

export function rawRequest({ method = 'POST', path = '/mcp', headers = {}, body }: RawRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const all = {
    host: '127.0.0.1',
    ...(method === 'POST' ? { ...usual, 'content-length': String(Buffer.byteLength(text)) } : {}),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}
