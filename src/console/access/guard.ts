/** Refuses requests that other pages cause: through another name for this address, or from another origin. */

import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors.ts'

/** The origins at which a browser reaches the console. */
export const originsOf = (port: number): readonly string[] => [`http://127.0.0.1:${port}`, `http://localhost:${port}`]

/**
 * With DNS rebinding a page gives its own name this address, so the name in `Host` must be ours. A page at another port of this
 * machine is the same site for cookies, so `Origin` must be ours with the port.
 *
 * @throws ApiError 403
 */
export function checkOrigin(headers: IncomingHttpHeaders, origins: readonly string[], isApi: boolean): void {
  const { host, origin } = headers
  const own = `http://${host ?? ''}`
  if (!origins.includes(own)) {
    throw new ApiError(403, 'ERR_HOST', `Expected the header Host to be ${namesOf(origins)}, got ${JSON.stringify(host ?? '')}`)
  }
  if (origin !== undefined && origin !== own) {
    throw new ApiError(403, 'ERR_ORIGIN', `Expected a request from ${own}, got one from ${JSON.stringify(origin)}`)
  }
  const site = headers['sec-fetch-site']
  // Browsers send it with every request, also where they leave out Origin. A link in a mail may open the page itself.
  if (isApi && site !== undefined && site !== 'same-origin') {
    throw new ApiError(
      403,
      'ERR_ORIGIN',
      `Expected a request of the console's own page, got one with Sec-Fetch-Site: ${JSON.stringify(site)}`,
    )
  }
}

/**
 * Whether a page of another site, or at another port, opens the console: by a link, or without the person. An address that the person
 * types or keeps as a bookmark, and a link of another program, is not from a page.
 */
export function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'none' && site !== 'same-origin'
}

const namesOf = (origins: readonly string[]): string => origins.map((origin) => origin.slice('http://'.length)).join(' or ')
