/** Fetches with the `fetch` of the runtime, which says nothing about addresses: only the URL is checked. */

import type { Connect } from './safe-fetch.ts'

export function plainConnect(own: typeof fetch | undefined): Connect {
  const send = own ?? fetch
  // Only browsers have cookies, and some other runtimes reject these options.
  const noCookies: RequestInit = 'document' in globalThis ? { credentials: 'omit', referrerPolicy: 'no-referrer' } : {}
  return (url, init) => send(url.href, { ...init, ...noCookies })
}

/** What bundles for browsers and Workers contain in place of `node/checked-connect.ts`, and what Bun loads. */
export const checkedConnect = (): Connect => plainConnect(undefined)
