/** The headers of every response, and the cookie of a session. */

import type { IncomingHttpHeaders } from 'node:http'

/** Scripts and styles come from files of the console only. Pictures and sounds of results are data or blobs. */
const pagePolicy = (frames: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    'media-src data: blob:',
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    // The views of tools are at another port.
    `frame-src ${frames.join(' ')}`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const

/** @param frames the origins of the frames that the page may show */
export const pageHeaders = (frames: readonly string[]) => ({ ...COMMON, 'content-security-policy': pagePolicy(frames) }) as const

export const DATA_HEADERS = { ...COMMON, 'content-security-policy': DATA_POLICY } as const

/** Cookies are shared by all ports of an address, so the name contains the port: two consoles do not overwrite each other's. */
const cookieName = (port: number): string => `portico-console-${port}`

export const sessionCookie = (port: number, value: string, maxAgeMs: number): string =>
  `${cookieName(port)}=${value}; Path=/api; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(maxAgeMs / 1000)}`

export const noCookie = (port: number): string => sessionCookie(port, '', 0)

/** Servers at other ports can set cookies of this name, too. Ours is looked for among this many. */
const MAX_COOKIES = 64

/** The secrets of a session in a request. */
export function secretsIn(headers: IncomingHttpHeaders, port: number): { cookies: readonly string[]; token: string | undefined } {
  const start = `${cookieName(port)}=`
  const cookies = (headers.cookie ?? '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(start))
    .map((each) => each.slice(start.length))
  const token = headers['portico-token']
  return { cookies: cookies.slice(0, MAX_COOKIES), token: Array.isArray(token) ? undefined : token }
}
