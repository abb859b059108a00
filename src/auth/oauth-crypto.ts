/** The random values, digests and client credentials that both sides of OAuth need. */

import { toBase64, toBase64Url } from '../base/bytes.ts'

/** 256 random bits as 43 characters: for states, PKCE verifiers and identifiers that must not be guessed. */
export const randomSecret = (): string => toBase64Url(crypto.getRandomValues(new Uint8Array(32)))

/** The SHA-256 digest of a text in base64url: a PKCE challenge, a DPoP `ath`, or a key for a cache of secrets. */
export async function sha256(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

/**
 * The Authorization header of `client_secret_basic`: id and secret are form-encoded first (RFC 6749, 2.3.1).
 *
 * Form encoding leaves `-`, `.`, `_` and `*` as they are. Some authorization servers do not decode, so encoding more than
 * necessary would lock out clients whose id contains a hyphen.
 */
export function basicCredentials(clientId: string, clientSecret: string): string {
  const encoded = [clientId, clientSecret].map((each) => new URLSearchParams({ '': each }).toString().slice(1)).join(':')
  return `Basic ${toBase64(new TextEncoder().encode(encoded))}`
}
