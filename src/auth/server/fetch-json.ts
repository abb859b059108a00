/** Fetches JSON from an authorization server: bounded in time and size, without redirects. */

import { objectIn } from '../../base/json.ts'
import { readBody } from '../fetch/bounded-body.ts'

/** The part of `fetch` that is used for requests to issuers. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Key sets and metadata of large issuers have some tens of KiB. */
export const MAX_DOCUMENT_BYTES = 256 * 1024

export interface FetchBounds {
  fetch: Fetch
  fetchTimeoutMs: number
  /** Default: `MAX_DOCUMENT_BYTES`. */
  maxDocumentBytes?: number
}

export interface IssuerResponse {
  status: number
  /** Undefined if the body is not a JSON object. */
  body: Record<string, unknown> | undefined
}

/** Throws if there is no response within the bounds. */
export async function fetchFromIssuer(url: string, init: RequestInit, bounds: FetchBounds): Promise<IssuerResponse> {
  const signal = AbortSignal.timeout(bounds.fetchTimeoutMs)
  const response = await bounds.fetch(url, { ...init, redirect: 'manual', signal })
  const { maxDocumentBytes = MAX_DOCUMENT_BYTES } = bounds
  const tooLarge = () => new Error(`The document is larger than ${maxDocumentBytes} bytes`)
  const bytes = await readBody(response.body, maxDocumentBytes, tooLarge)
  return { status: response.status, body: objectIn(new TextDecoder().decode(bytes)) }
}
