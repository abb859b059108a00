/**
 * Listens on this machine for the response to a login (RFC 8252, sections 7.3 and 8.3): on one address and one path, until
 * the response arrives. Other requests are rejected and have no effect.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../../../../base/address/loopback.ts'
import { authError } from '../../errors.ts'
import type { OpenRedirect, RedirectOptions } from '../redirect.ts'
import { openBrowser as openSystemBrowser } from './browser.ts'

export interface LoopbackOptions {
  /** The address to listen on, if it must not be chosen freely. */
  fixed: string | undefined
  /** The address of the last login, used again if it is free. */
  previous: string | undefined
  openBrowser: ((url: string) => void | Promise<void>) | undefined
}

const PATH = '/callback'
/** An address, not a name: a name may resolve to an address where another program listens. */
const HOST = '127.0.0.1'
/** A program that sends more unrelated requests than this is guessing. */
const MAX_UNRELATED = 100

const PAGE = `<!doctype html><meta charset="utf-8"><title>Login complete</title><p>Login complete. You can close this window and return to the program.</p>`
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

export async function openLoopback({ fixed, previous, openBrowser }: LoopbackOptions): Promise<OpenRedirect> {
  const server = createServer({ maxHeaderSize: 16 * 1024, headersTimeout: 5000, requestTimeout: 5000 })
  // Browsers open spare connections.
  server.maxConnections = 16
  const wanted = fixed ?? previous
  const address = wanted === undefined ? undefined : new URL(wanted)
  if (fixed !== undefined && address?.protocol !== 'http:') {
    throw authError('redirect', 'Expected a redirect address on this machine. For any other address, pass a redirect with a visit function')
  }
  const host = address?.hostname.replace(/^\[|\]$/g, '') ?? HOST
  await listen(server, Number(address?.port ?? 0), host === 'localhost' ? HOST : host).catch((cause: unknown) => {
    if (fixed !== undefined && address?.port !== '') throw authError('redirect', `Cannot listen at ${fixed}`, { cause })
    return listen(server, 0, HOST)
  })
  const { port } = server.address() as AddressInfo
  const name = fixed !== undefined && address ? address.hostname : HOST
  const path = fixed !== undefined && address ? address.pathname : PATH
  const uri = `http://${name}:${port}${path}`
  return {
    uri,
    visit: async (url, options) => {
      const arrival = arrivalAt(server, uri, options)
      // The caller gets this rejection below. Without a handler here it would be unhandled when the browser cannot be opened.
      arrival.catch(() => {})
      await (openBrowser ?? openSystemBrowser)(url)
      return arrival
    },
    close: () => close(server),
  }
}

function arrivalAt(server: Server, uri: string, { isOurs, signal }: RedirectOptions): Promise<string> {
  const { pathname, origin } = new URL(uri)
  let unrelated = 0
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    const refuse = (response: ServerResponse, status: number): void => {
      response.writeHead(status, { connection: 'close' }).end()
      unrelated += 1
      if (unrelated >= MAX_UNRELATED) reject(authError('redirect', `${MAX_UNRELATED} requests arrived that do not belong to the login`))
    }
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { method, url = '', headers } = request
      if (!isLoopbackHost(headers.host)) return refuse(response, 421)
      if (!URL.canParse(url, origin) || !url.startsWith('/')) return refuse(response, 400)
      const callback = new URL(origin + url)
      if (callback.pathname !== pathname) return refuse(response, 404)
      if (method !== 'GET') return refuse(response, 405)
      if (!isOurs(callback)) return refuse(response, 400)
      // The page shows nothing of the request: anyone could have written it.
      response.writeHead(200, PAGE_HEADERS).end(PAGE, () => resolve(callback.href))
    })
  })
}

/** Prevents DNS rebinding: a web page could otherwise send requests here under its own host name. */
const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname)

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // An open connection of a browser must not keep the program running.
    setTimeout(() => server.closeAllConnections(), 200).unref()
  })
