/** Revokes tokens at the authorization server (RFC 7009). */

import type { ServerMetadata } from '../discovery/server-metadata.ts'
import type { FetchContext } from '../fetch-json.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import { fetchAsClient } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** False if a token could not be revoked; it then stays valid until it expires. */
export async function revokeTokens(http: FetchContext, metadata: ServerMetadata, client: ClientIdentity, tokens: Tokens): Promise<boolean> {
  const url = metadata.revocationEndpoint
  if (url === undefined) return false
  const revoke = async (token: string | undefined, hint: string): Promise<boolean> => {
    if (token === undefined) return true
    const body = new URLSearchParams({ token, token_type_hint: hint })
    const { status, json } = await fetchAsClient(http, metadata, client, url, body)
    // Self-contained access tokens cannot be revoked. Without the refresh token they cannot be renewed either.
    return (status >= 200 && status < 300) || json?.error === 'unsupported_token_type'
  }
  // The refresh token is sent first: it lives longest.
  const results = await Promise.allSettled([revoke(tokens.refreshToken, 'refresh_token'), revoke(tokens.accessToken, 'access_token')])
  return results.every((result) => result.status === 'fulfilled' && result.value)
}
