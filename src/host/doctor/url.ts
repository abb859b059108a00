/** Checks a server at a URL: DNS, TCP, TLS, HTTP, login metadata, negotiation. */

import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { discoverAuthorization } from '../../auth/index.ts'
import { isLoopback } from '../../base/address/loopback.ts'
import { isObject } from '../../base/json.ts'
import { counted } from '../../base/text/counted.ts'
import { type Client, McpError } from '../../client/index.ts'
import { type Checkup, CheckupFailure } from './checkup.ts'
import { countOffering } from './lists.ts'

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
    ? checkup.skip('DNS', 'not needed: an IP address')
    : checkup.step('DNS', async () => resolveName(hostOf(url as URL))))
  await checkup.step('TCP', () => within(options, 'ETIMEDOUT', () => connectTo(url as URL)))
  if (url?.protocol === 'https:') await checkup.step('TLS', () => within(options, 'ETIMEDOUT', () => encryptTo(url)))
  else checkup.skip('TLS', checkup.isHealthy ? whyNoTls(url as URL) : 'skipped: an earlier step failed')
  const challenge = await checkup.step('HTTP', () => within(options, 'ERR_TIMEOUT', (signal) => probe(url as URL, options.headers, signal)))
  if (challenge?.isAccepted) checkup.skip('well-known', 'not needed: your headers have the credentials')
  else if (checkup.isHealthy && challenge?.isProtected !== true) checkup.skip('well-known', 'not needed: no login required')
  else await checkup.step('well-known', () => readWellKnown(url as URL, challenge?.header, options))
  await negotiate(checkup, challenge, options)
}

const whyNoTls = ({ hostname }: URL): string =>
  isLoopback(hostname) ? 'not needed: http on this machine' : 'not used: http without encryption (--insecure)'

async function judgeAddress(text: string, { isInsecureAllowed }: UrlCheckupOptions): Promise<{ detail: string; value: URL }> {
  if (!URL.canParse(text)) throw new CheckupFailure(`${JSON.stringify(text)} is not a URL`, 'Expected https:// or http://')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw new CheckupFailure('The URL contains a password', 'Send it as a header named Authorization.')
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !isInsecureAllowed)
    throw new CheckupFailure(`${url.origin} is neither https nor on this machine`, 'Use https, or --insecure to allow it')
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
      const soon = daysLeft < EXPIRES_SOON_DAYS ? ' (expires soon)' : ''
      socket.destroy()
      resolve({
        detail: `${socket.getProtocol() ?? 'TLS'}, certificate valid for ${counted(daysLeft, 'more day')}${soon}`,
        value: undefined,
      })
    })
  })
}

interface Challenge {
  isProtected: boolean
  /** Without its headers the request is refused, so they have the credentials. */
  isAccepted: boolean
  header: string | undefined
}

/** Sends a harmless request to see whether a login is required. */
async function probe(url: URL, headers: UrlCheckupOptions['headers'], signal: AbortSignal): Promise<{ detail: string; value: Challenge }> {
  const response = await ping(url, headers, signal)
  const { status } = response
  if (status >= 300 && status < 400)
    throw new CheckupFailure(
      `HTTP ${status}: redirects to ${response.headers.get('location') ?? 'no address'}`,
      'Use that address, if you trust it',
    )
  if (status === 404) throw new CheckupFailure('HTTP 404: not found', 'Is the path right? Many servers are at /mcp or /sse')
  if (status >= 500)
    throw new CheckupFailure(`HTTP ${status}: the server, or a proxy in front of it, fails`, 'Look at the logs of the server')
  if (status === 403)
    throw new CheckupFailure(
      'HTTP 403: access denied',
      'The credentials may not be sufficient, or the server refuses this origin, host or network',
    )
  const isProtected = status === 401
  const isAccepted = !isProtected && Object.keys(headers).length > 0 && (await ping(url, {}, signal)).status === 401
  const detail = isProtected
    ? 'HTTP 401: credentials required'
    : status === 400
      ? 'HTTP 400: the server answers; 400 is usual for a request without a session'
      : `HTTP ${status}`
  return { detail, value: { isProtected, isAccepted, header: response.headers.get('www-authenticate') ?? undefined } }
}

async function ping(url: URL, headers: UrlCheckupOptions['headers'], signal: AbortSignal): Promise<Response> {
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
  return response
}

async function readWellKnown(
  server: URL,
  challenge: string | undefined,
  { signal }: UrlCheckupOptions,
): Promise<{ detail: string; value: undefined }> {
  try {
    const { issuer } = await discoverAuthorization(server, { challenge, signal })
    return { detail: `logins at ${issuer}`, value: undefined }
  } catch (error) {
    if (reasonOf(error) !== 'unannounced') throw error
    return { detail: 'names no authorization server; it may want an API key', value: undefined }
  }
}

const reasonOf = (error: unknown): unknown =>
  error instanceof McpError && isObject(error.data) && error.code === 'ERR_AUTH' ? error.data.reason : undefined

/** One connection attempt checks two things: negotiation and authorization. */
async function negotiate(checkup: Checkup, challenge: Challenge | undefined, options: UrlCheckupOptions): Promise<void> {
  let refusal: McpError | undefined
  let client: Client | undefined
  try {
    await checkup.step('negotiation', async () => {
      client = await options.connect().catch((error: unknown) => {
        if (!(error instanceof McpError) || error.code !== 'ERR_AUTH') throw error
        refusal = error
        return undefined
      })
      if (!client)
        return { detail: `possible only ${reasonOf(refusal) === 'refused' ? 'with credentials' : 'after a login'}`, value: undefined }
      const { info } = client.server
      return { detail: `${info.title ?? info.name} ${info.version}, revision ${client.revision}`, value: undefined }
    })
    const { isProtected = false, isAccepted = false } = challenge ?? {}
    if (!isProtected && !isAccepted && !refusal)
      checkup.skip('authorization', checkup.isHealthy ? 'not needed' : 'skipped: an earlier step failed')
    else
      await checkup.step('authorization', async () => {
        if (refusal) throw refusal
        return { detail: isAccepted ? 'credentials required, and yours are accepted' : 'access granted', value: undefined }
      })
    await checkup.step('lists', async () => ({ detail: await countOffering(client as Client), value: undefined }))
  } finally {
    await client?.close()
  }
}

/** @param code the code of the timeout error */
async function within<T>(
  { timeoutMs, signal }: UrlCheckupOptions,
  code: 'ETIMEDOUT' | 'ERR_TIMEOUT',
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.timeout: inside AbortSignal.any nothing else references it, and Node may collect it before it fires.
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
