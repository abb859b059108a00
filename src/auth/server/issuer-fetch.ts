/** Asks an issuer. What the operator named may be anywhere; what the metadata of the issuer names is judged like any foreign URL. */

import { type SafeFetchInit, safeFetch } from '../safe-fetch.ts'
import type { Fetch } from './fetch-json.ts'
import type { IssuerOptions } from './issuer.ts'
import type { ResourceServerLimits } from './limits.ts'

export function issuerFetch({ issuer, jwksUri, introspection }: IssuerOptions, limits: ResourceServerLimits): Fetch {
  const { fetchTimeoutMs, maxDocumentBytes } = limits
  const named = [jwksUri, introspection?.endpoint].filter((url) => url !== undefined)
  return (url, init) => {
    const { origin } = new URL(url)
    const userUrl = named.find((each) => new URL(each).origin === origin) ?? issuer
    return safeFetch({ userUrl, limits: { fetchTimeoutMs, maxDocumentBytes } })(url, init as SafeFetchInit)
  }
}
