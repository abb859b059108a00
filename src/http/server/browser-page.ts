/** The page for a person who opens the endpoint in a browser. Loaded on use. */

import { randomId } from '../../base/bytes.ts'
import type { Headers, HttpReply, HttpRequestView } from './runtime/request-reply.ts'

/** @param name of the server; undefined if it has none */
export function sendBrowserPage(request: HttpRequestView, reply: HttpReply, name: string | undefined, needsLogin: boolean): void {
  // The page needs no script, and no style but its own.
  const nonce = randomId()
  reply.send(200, headersOf(nonce), pageOf(urlOf(request), name ?? 'MCP server', needsLogin, nonce))
}

const headersOf = (nonce: string): Headers => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'Accept',
})

/** The address of this page, without the query. */
function urlOf(request: HttpRequestView): string {
  const forwarded = request.proxies > 0 ? request.header('x-forwarded-proto') : undefined
  const isSecure = forwarded === undefined ? request.isSecure : forwarded.split(',')[0]?.trim() === 'https'
  const path = request.url.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  return `http${isSecure ? 's' : ''}://${request.header('host') ?? ''}${path}`
}

function pageOf(url: string, name: string, needsLogin: boolean, nonce: string): string {
  const entry = JSON.stringify({ mcpServers: { [name]: { url } } }, undefined, 2)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(name)}: an MCP server</title>
<style nonce="${nonce}">
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid; border-radius: .4rem; opacity: .85 }
</style>
</head>
<body>
<main>
<h1>${escaped(name)}</h1>
<p>This address serves the Model Context Protocol (MCP). It is for programs, such as assistants and editors, not for browsers.</p>
<p>Add it to a program that speaks MCP with this URL:</p>
<pre>${escaped(url)}</pre>
${needsLogin ? '<p>Callers must log in. Most programs open a page for that when they first connect.</p>\n' : ''}<p>Many programs read a file like this:</p>
<pre>${escaped(entry)}</pre>
${PLAIN_URL.test(url) ? `<p>To try it in a terminal:</p>\n<pre>npx portico tools ${escaped(url)}</pre>\n` : ''}</main>
</body>
</html>
`
}

/** A URL that a shell takes as one word. The path can come from a link of a stranger. */
const PLAIN_URL = /^[\w./:~%[\]-]+$/

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string)
