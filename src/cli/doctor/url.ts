/** A server at a URL: name, connection, encryption, HTTP, what it says about logins, and what it speaks. */

import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { oauthChallengeOf, parseChallenges } from '../../auth/client/discovery/challenge.ts'
import { discover } from '../../auth/client/discovery/discover.ts'
import { DEFAULT_OAUTH_LIMITS } from '../../auth/client/http.ts'
import { safeFetch } from '../../auth/fetch/safe-fetch.ts'
import { isLoopback } from '../../base/address/loopback.ts'
import { asText } from '../../base/as-text.ts'
import type { Client } from '../../client/client.ts'
import { McpError } from '../../protocol/errors.ts'
import { type Checkup, Failure } from './checkup.ts'
import { listEverything } from './lists.ts'

export interface UrlCheckupOptions {
  headers: Readonly<Record<string, string>>
  isInsecureAllowed: boolean
  timeoutMs: number
  signal: AbortSignal
  connect(): Promise<Client>
}

const EXPIRES_SOON_DAYS = 14
const DAY_MS = 24 * 60 * 60_000

export async function checkUrl(checkup: Checkup, text: string, options: UrlCheckupOptions): Promise<void> {
  const url = await checkup.step('address', async () => judgeAddress(text, options))
  await (url && isIP(hostOf(url)) !== 0
    ? checkup.skip('DNS', 'an address, not a name')
    : checkup.step('DNS', async () => resolveName(hostOf(url as URL))))
  await checkup.step('TCP', () => within(options, 'ETIMEDOUT', () => connectTo(url as URL)))
  if (url?.protocol === 'https:') await checkup.step('TLS', () => within(options, 'ETIMEDOUT', () => encryptTo(url)))
  else checkup.skip('TLS', checkup.isHealthy ? 'http, to this machine' : 'not reached')
  const challenge = await checkup.step('HTTP', () => within(options, 'ERR_TIMEOUT', (signal) => knock(url as URL, options.headers, signal)))
  if (checkup.isHealthy && challenge?.isProtected !== true) checkup.skip('well-known', 'no login is asked for')
  else await checkup.step('well-known', () => readWellKnown(url as URL, challenge?.header, options))
  await negotiate(checkup, challenge?.isProtected === true, options)
}

async function judgeAddress(text: string, { isInsecureAllowed }: UrlCheckupOptions): Promise<{ detail: string; value: URL }> {
  if (!URL.canParse(text)) throw new Failure(`${JSON.stringify(text)} is not a URL`, 'It begins with https:// or http://')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw new Failure('The URL holds a password', 'Give it as a header: -H "Authorization: ..."')
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !isInsecureAllowed)
    throw new Failure(`${url.origin} is neither https nor on this machine`, 'Use https, or --insecure if it must be')
  return { detail: `${url.origin}${url.pathname}`, value: url }
}

async function resolveName(host: string): Promise<{ detail: string; value: undefined }> {
  const found = await lookup(host, { all: true })
  return { detail: found.map(({ address }) => address).join(', '), value: undefined }
}

function connectTo(url: URL): Promise<{ detail: string; value: undefined }> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: hostOf(url), port: portOf(url) })
    socket.once('error', reject)
    socket.once('connect', () => {
      const detail = `${socket.remoteAddress} port ${socket.remotePort}`
      socket.destroy()
      resolve({ detail, value: undefined })
    })
  })
}

function encryptTo(url: URL): Promise<{ detail: string; value: undefined }> {
  return new Promise((resolve, reject) => {
    const host = hostOf(url)
    const socket: TLSSocket = connectTls({ host, port: portOf(url), ...(isIP(host) === 0 && { servername: host }) })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const { valid_to: until } = socket.getPeerCertificate()
      const daysLeft = Math.floor((Date.parse(until) - Date.now()) / DAY_MS)
      const soon = daysLeft < EXPIRES_SOON_DAYS ? ', which is soon' : ''
      socket.destroy()
      resolve({ detail: `${socket.getProtocol() ?? 'TLS'}, certificate for ${daysLeft} more days${soon}`, value: undefined })
    })
  })
}

interface Challenge {
  isProtected: boolean
  header: string | undefined
}

/** A request that does nothing, to see whether and how the door is locked. */
async function knock(url: URL, headers: UrlCheckupOptions['headers'], signal: AbortSignal): Promise<{ detail: string; value: Challenge }> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method: 'ping' }),
    signal,
  }).catch((error: unknown) => {
    throw (error as { cause?: unknown }).cause ?? error
  })
  await response.body?.cancel()
  const { status } = response
  if (status >= 300 && status < 400)
    throw new Failure(
      `HTTP ${status}: it sends elsewhere, to ${response.headers.get('location') ?? 'nowhere'}`,
      'Use the address it names, if you trust it',
    )
  if (status === 404) throw new Failure('HTTP 404: nothing is there', 'Is the path right? Many servers are at /mcp or /sse')
  if (status >= 500) throw new Failure(`HTTP ${status}: the server, or what stands before it, fails`, 'Look at the logs of the server')
  if (status === 403)
    throw new Failure('HTTP 403: it refuses', 'The credentials given may do too little, or the server refuses this origin, host or network')
  const isProtected = status === 401
  const detail = isProtected ? 'HTTP 401: it wants a login' : `HTTP ${status}`
  return { detail, value: { isProtected, header: response.headers.get('www-authenticate') ?? undefined } }
}

async function readWellKnown(
  url: URL,
  header: string | undefined,
  { signal }: UrlCheckupOptions,
): Promise<{ detail: string; value: undefined }> {
  const { resourceMetadata } = oauthChallengeOf(parseChallenges(header))
  const exchange = { fetch: safeFetch({ userUrl: url }), limits: DEFAULT_OAUTH_LIMITS, signal }
  const found = await discover(exchange, {
    server: url,
    location: resourceMetadata,
    allowsOtherOrigin: false,
    allowsLegacy: true,
    preferred: [],
    onWarning: () => {},
  })
  const { issuer, authorizationEndpoint } = found.metadata
  return { detail: `logins at ${issuer ?? new URL(asText(authorizationEndpoint)).origin}`, value: undefined }
}

/** One attempt says two things: whether the two sides understand each other, and whether we may come in. */
async function negotiate(checkup: Checkup, isProtected: boolean, options: UrlCheckupOptions): Promise<void> {
  let refusal: McpError | undefined
  let client: Client | undefined
  try {
    await checkup.step('negotiation', async () => {
      client = await options.connect().catch((error: unknown) => {
        if (!(error instanceof McpError) || error.code !== 'ERR_AUTH') throw error
        refusal = error
        return undefined
      })
      if (!client) return { detail: 'not before a login', value: undefined }
      const { info } = client.server
      return { detail: `${info.title ?? info.name} ${info.version}, revision ${client.revision}`, value: undefined }
    })
    if (!isProtected && !refusal) checkup.skip('authorization', checkup.isHealthy ? 'none is asked for' : 'not reached')
    else
      await checkup.step('authorization', async () => {
        if (refusal) throw refusal
        return { detail: 'we may come in', value: undefined }
      })
    await checkup.step('lists', async () => ({ detail: await listEverything(client as Client), value: undefined }))
  } finally {
    await client?.close()
  }
}

/** @param code of the error when the time is over */
async function within<T>(
  { timeoutMs, signal }: UrlCheckupOptions,
  code: 'ETIMEDOUT' | 'ERR_TIMEOUT',
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.timeout: in `any` nothing but the signal made of it holds on to it, and Node then collects it before its time.
  const over = new AbortController()
  const ends = AbortSignal.any([signal, over.signal])
  const timer = setTimeout(() => over.abort(Object.assign(new Error(`No answer within ${timeoutMs} ms`), { code })), timeoutMs)
  const ended = new Promise<never>((_, reject) => ends.addEventListener('abort', () => reject(ends.reason), { once: true }))
  try {
    return await Promise.race([work(ends), ended])
  } finally {
    clearTimeout(timer)
  }
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
const portOf = (url: URL): number => (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))
