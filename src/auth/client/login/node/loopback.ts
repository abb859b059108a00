/**
 * Listens on this machine for the way back from a login: on one address, for one path, until one request comes that
 * belongs to the login. What anybody else sends is turned away and changes nothing.
 *
 * @see RFC 8252, sections 7.3 and 8.3
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../../../../base/address/person-url.ts'
import { authError } from '../../errors.ts'
import type { RedirectOptions } from '../../options.ts'
import type { OpenRedirect } from '../authorization-code.ts'
import { openBrowser as openSystemBrowser } from './browser.ts'

export interface LoopbackOptions {
  /** The address to listen on, if it must be a certain one. */
  fixed: string | undefined
  /** The address that was used before; used again if it is free. */
  before: string | undefined
  openBrowser: ((url: string) => void | Promise<void>) | undefined
}

const PATH = '/callback'
/** The address, not a name: a name may lead to an address that somebody else listens on. */
const HOST = '127.0.0.1'
const MAX_STRANGERS = 100

const PAGE = `<!doctype html><meta charset="utf-8"><title>Login</title><p>Thank you. You can close this window and go back to the program.</p>`
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
}

export async function openLoopback({ fixed, before, openBrowser }: LoopbackOptions): Promise<OpenRedirect> {
  const server = createServer({ maxHeaderSize: 16 * 1024, headersTimeout: 5000, requestTimeout: 5000 })
  // A browser may open a connection only in case.
  server.maxConnections = 16
  const wanted = fixed ?? before
  const address = wanted === undefined ? undefined : new URL(wanted)
  if (fixed !== undefined && address?.protocol !== 'http:') {
    throw authError('redirect', 'An address that is not on this machine needs a redirect with a visit function')
  }
  const host = address?.hostname.replace(/^\[|\]$/g, '') ?? HOST
  await listen(server, Number(address?.port ?? 0), host === 'localhost' ? HOST : host).catch((cause: unknown) => {
    if (fixed !== undefined && address?.port !== '') throw authError('redirect', `Nothing can be listened to at ${fixed}`, { cause })
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
      // Whichever fails first; the other is then of no interest.
      arrival.catch(() => {})
      await (openBrowser ?? openSystemBrowser)(url)
      return arrival
    },
    close: () => close(server),
  }
}

function arrivalAt(server: Server, uri: string, { isOurs, signal }: RedirectOptions): Promise<string> {
  const { pathname, origin } = new URL(uri)
  let strangers = 0
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    const turnAway = (response: ServerResponse, status: number): void => {
      response.writeHead(status, { connection: 'close' }).end()
      strangers += 1
      if (strangers >= MAX_STRANGERS) reject(authError('redirect', `${MAX_STRANGERS} requests came that do not belong to the login`))
    }
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { method, url = '', headers } = request
      if (!isOfThisMachine(headers.host)) return turnAway(response, 421)
      if (!URL.canParse(url, origin) || !url.startsWith('/')) return turnAway(response, 400)
      const callback = new URL(origin + url)
      if (callback.pathname !== pathname) return turnAway(response, 404)
      if (method !== 'GET') return turnAway(response, 405)
      if (!isOurs(callback)) return turnAway(response, 400)
      // It says nothing of what came: that was written by somebody else.
      response.writeHead(200, PAGE_HEADERS).end(PAGE, () => resolve(callback.href))
    })
  })
}

/** A page of somebody else's could otherwise reach us under a name of its own. */
const isOfThisMachine = (host: string | undefined): boolean =>
  host !== undefined && URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname)

const listen = (server: Server, port: number, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
    // A browser that keeps its connection must not keep the program.
    setTimeout(() => server.closeAllConnections(), 200).unref()
  })
