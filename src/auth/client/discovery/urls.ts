/** Rules for URLs that come from a server, and the well-known URLs of metadata. */

import { isLoopback } from '../../../base/address/loopback.ts'

/** Longer than any real endpoint. */
const MAX_URL_LENGTH = 4096

/** Which URLs may be used. `allowsLoopback`: http on this machine, if the MCP server is on it too. */
export interface UrlRules {
  allowsLoopback: boolean
}

/** Whether tokens may be sent to a URL: encrypted, or on this machine. */
export const isSecureUrl = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))

export const rulesFor = (server: URL): UrlRules => ({ allowsLoopback: isLoopback(server.hostname) })

/** Undefined if the URL must not be used. */
export function usableUrl(text: unknown, { allowsLoopback }: UrlRules): URL | undefined {
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || text.includes('#')) return undefined
  if (url.protocol === 'https:') return url
  return url.protocol === 'http:' && allowsLoopback && isLoopback(url.hostname) ? url : undefined
}

/** RFC 8414 and RFC 9728: the well-known name goes between host and path. */
export const insertedWellKnown = (identifier: URL, name: string): string => `${identifier.origin}/.well-known/${name}${pathOf(identifier)}`

/** OpenID Connect: the well-known name goes after the path. */
export const appendedWellKnown = (identifier: URL, name: string): string => `${identifier.origin}${pathOf(identifier)}/.well-known/${name}`

export const rootWellKnown = (identifier: URL, name: string): string => `${identifier.origin}/.well-known/${name}`

export const hasPath = (identifier: URL): boolean => pathOf(identifier) !== ''

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, '')

/** The `resource` of a server that publishes none: without query, fragment and the slash of the root. */
export const canonicalUri = (server: URL): string => `${server.origin}${server.pathname === '/' ? '' : server.pathname}`

/** Whether `resource` is the URL of the server or a parent path of it. */
export function covers(resource: URL, server: URL): boolean {
  if (resource.origin !== server.origin) return false
  if (resource.search !== '' && resource.search !== server.search) return false
  const parent = pathOf(resource)
  return parent === '' || server.pathname === resource.pathname || server.pathname === parent || server.pathname.startsWith(`${parent}/`)
}

/** Whether a URL can be a client id (draft-ietf-oauth-client-id-metadata-document, section 3). */
export function isClientDocumentUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, pathname } = new URL(text)
  const hasDots = /\/\.{1,2}(?:\/|$)|%2e/i.test(text.replace(/[?#].*$/s, ''))
  return protocol === 'https:' && username === '' && password === '' && !text.includes('#') && pathname !== '/' && !hasDots
}
