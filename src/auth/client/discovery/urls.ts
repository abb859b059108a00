/** Which URLs that somebody else names may be used, and where documents about an identifier are. */

import { isLoopback } from '../../../base/address/person-url.ts'

const MAX_URL_LENGTH = 4096

/** Unencrypted only on this machine, and there only for a server that is on this machine too. */
export interface UrlRules {
  allowsLoopback: boolean
}

/** Tokens are sent only where nobody listens in. */
export const isPrivateWay = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))

export const rulesFor = (server: URL): UrlRules => ({ allowsLoopback: isLoopback(server.hostname) })

/** Undefined for what must not be used. */
export function usableUrl(text: unknown, { allowsLoopback }: UrlRules): URL | undefined {
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || text.includes('#')) return undefined
  if (url.protocol === 'https:') return url
  return url.protocol === 'http:' && allowsLoopback && isLoopback(url.hostname) ? url : undefined
}

/** The URL of a document about an identifier: the well-known name goes between host and path. */
export const insertedWellKnown = (identifier: URL, name: string): string => `${identifier.origin}/.well-known/${name}${pathOf(identifier)}`

/** The older way: the well-known name goes to the end. */
export const appendedWellKnown = (identifier: URL, name: string): string => `${identifier.origin}${pathOf(identifier)}/.well-known/${name}`

export const rootWellKnown = (identifier: URL, name: string): string => `${identifier.origin}/.well-known/${name}`

export const hasPath = (identifier: URL): boolean => pathOf(identifier) !== ''

const pathOf = ({ pathname }: URL): string => pathname.replace(/\/$/, '')

/** The name of a server as its tokens are asked for when it does not say one itself: no fragment, no needless slash. */
export const canonicalUri = (server: URL): string => `${server.origin}${server.pathname === '/' ? '' : server.pathname}`

/** Whether tokens for `resource` are meant for `server`: it is the same, or a parent on a boundary between segments. */
export function covers(resource: URL, server: URL): boolean {
  if (resource.origin !== server.origin) return false
  if (resource.search !== '' && resource.search !== server.search) return false
  const parent = pathOf(resource)
  return parent === '' || server.pathname === resource.pathname || server.pathname === parent || server.pathname.startsWith(`${parent}/`)
}

/**
 * A client id that is the URL of a document about the client.
 *
 * @see the specification, Client ID Metadata Documents; draft-ietf-oauth-client-id-metadata-document, section 3
 */
export function isClientDocumentUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, pathname } = new URL(text)
  const hasDots = /\/\.{1,2}(?:\/|$)|%2e/i.test(text.replace(/[?#].*$/s, ''))
  return protocol === 'https:' && username === '' && password === '' && !text.includes('#') && pathname !== '/' && !hasDots
}
