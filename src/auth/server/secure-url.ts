/** The one name of a protected resource, and where its metadata is found (RFC 9728, 3). */

import { McpError } from '../../protocol/errors.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/**
 * Scheme and host in lower case, no default port, no slash at the end of the root: one resource, one text.
 * Throws ERR_DEFINITION for what cannot be a resource.
 */
export function canonicalResource(resource: string): string {
  const url = secureUrl(resource, 'The resource')
  if (url.hash !== '' || resource.includes('#')) throw new McpError('ERR_DEFINITION', `A resource has no fragment: ${resource}`)
  return url.pathname === '/' && url.search === '' ? url.origin : url.href
}

/** The metadata of the resource: at its own place, and at the root for clients that look there. */
export function metadataPlaces(resource: string): { url: string; paths: readonly string[] } {
  const { origin, pathname, search } = new URL(resource)
  const path = pathname === '/' ? '' : pathname
  return { url: `${origin}${WELL_KNOWN}${path}${search}`, paths: [...new Set([`${WELL_KNOWN}${path}`, WELL_KNOWN])] }
}

/** https, or http to this machine. */
export function secureUrl(text: string, what: string): URL {
  if (!URL.canParse(text)) throw new McpError('ERR_DEFINITION', `${what} is not a URL: ${JSON.stringify(text)}`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new McpError('ERR_DEFINITION', `${what} must not have a user in it`)
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new McpError('ERR_DEFINITION', `${what} must be https: ${JSON.stringify(text)}`)
  return url
}
