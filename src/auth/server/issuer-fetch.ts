/** Asks an issuer. What the operator named may be anywhere; what the metadata of the issuer names is judged like any foreign URL. */

import { type SafeFetchInit, safeFetch } from '../fetch/safe-fetch.ts'
import type { Fetch } from './fetch-json.ts'
import type { ResourceServerLimits } from './limits.ts'

/** @param named URLs of the issuer that the operator has named too */
export function issuerFetch(issuer: string, named: readonly (string | undefined)[], limits: ResourceServerLimits): Fetch {
  const { fetchTimeoutMs, maxDocumentBytes } = limits
  return (url, init) => {
    const { origin } = new URL(url)
    const userUrl = named.find((each) => each !== undefined && new URL(each).origin === origin) ?? issuer
    return safeFetch({ userUrl, limits: { fetchTimeoutMs, maxDocumentBytes } })(url, init as SafeFetchInit)
  }
}
