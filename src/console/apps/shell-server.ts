/** The listener for views: another origin than the console, which serves the page around a view and nothing else. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limitConnections } from '../web/connections.ts'
import { SHELL_SCRIPT, shellPage } from './shell.ts'
import { guardedPage } from './view-guard.ts'

export interface ShellServerOptions {
  /** The origins of the console. */
  consoles(): readonly string[]
  /** The view with this key, and its policy. Undefined for an unknown key. */
  viewOf(key: string): { html: string; policy: string } | undefined
  maxConnections: number
}

export interface ShellServer {
  port: number
  close(): Promise<void>
}

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-dns-prefetch-control': 'off',
  'origin-agent-cluster': '?1',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-read=(), clipboard-write=()',
} as const

/** Resolves when it accepts requests. */
export async function startShellServer(options: ShellServerOptions): Promise<ShellServer> {
  let port = 0
  const settings = { headersTimeout: 10_000, requestTimeout: 10_000 }
  const answer = (request: IncomingMessage, response: ServerResponse): void => answerRequest(options, port, request, response)
  const servers = [createServer(settings, answer), createServer(settings, answer)] as const
  for (const server of servers) limitConnections(server, options.maxConnections)
  await listenAt(servers[0], 0, '127.0.0.1')
  port = (servers[0].address() as AddressInfo).port
  // Browsers may look for "localhost" there first. Where there is no such address, they use the other one.
  await listenAt(servers[1], port, '::1').catch(() => {})
  return {
    port,
    close: async () => {
      await Promise.all(servers.map(closed))
    },
  }
}

async function listenAt(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

function answerRequest(
  options: ShellServerOptions,
  port: number,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const isOurs = headers.host === `localhost:${port}` || headers.host === `127.0.0.1:${port}`
  if (method !== 'GET' || !isOurs) return send(response, 403, 'text/plain', 'Only views of the console are here.')
  if (url === '/shell.js') return send(response, 200, 'text/javascript; charset=utf-8', SHELL_SCRIPT)
  const [, page, key = ''] = /^\/(app|view)\/([\w-]{20,64})$/.exec(url) ?? []
  const view = options.viewOf(key)
  if (!view) return send(response, 404, 'text/plain', 'There is no such view.')
  const consoles = options.consoles()
  const around = `frame-ancestors ${consoles.join(' ')}`
  if (page === 'app') return send(response, 200, 'text/html; charset=utf-8', shellPage(consoles), `${SHELL_POLICY}; ${around}`)
  const policy = `${view.policy}; sandbox allow-scripts allow-forms; ${around} http://${headers.host}`
  send(response, 200, 'text/html; charset=utf-8', guardedPage(view.html), policy)
}

/** The frame of the view can go to no other place. Frames inside of the view have the policy of the view. */
const SHELL_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'"
const NO_POLICY = "default-src 'none'; frame-ancestors 'none'"

function send(response: ServerResponse, status: number, type: string, text: string, policy = NO_POLICY): void {
  const bytes = Buffer.from(text)
  response.writeHead(status, { ...COMMON, 'content-security-policy': policy, 'content-type': type, 'content-length': bytes.length })
  response.end(bytes)
}
