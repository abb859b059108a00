/**
 * Tells the authorization server that tokens are no longer needed.
 *
 * @see RFC 7009
 */

import type { ServerMetadata } from '../discovery/server-metadata.ts'
import type { FetchContext } from '../http.ts'
import type { ClientIdentity } from '../registration/client-authentication.ts'
import { fetchAsClient } from './token-request.ts'
import type { Tokens } from './tokens.ts'

/** As far as it goes: what cannot be revoked expires. False when something could not be. */
export async function revokeTokens(
  exchange: FetchContext,
  metadata: ServerMetadata,
  client: ClientIdentity,
  tokens: Tokens,
): Promise<boolean> {
  const url = metadata.revocationEndpoint
  if (url === undefined) return false
  const revoke = async (token: string | undefined, hint: string): Promise<boolean> => {
    if (token === undefined) return true
    const body = new URLSearchParams({ token, token_type_hint: hint })
    const { status, json } = await fetchAsClient(exchange, metadata, client, url, body)
    // Tokens that say everything themselves can only expire; without the refresh token no others follow.
    return (status >= 200 && status < 300) || json?.error === 'unsupported_token_type'
  }
  // The refresh token first: it is the one that lasts.
  const results = await Promise.allSettled([revoke(tokens.refreshToken, 'refresh_token'), revoke(tokens.accessToken, 'access_token')])
  return results.every((result) => result.status === 'fulfilled' && result.value)
}
