/** Logging in to a server over HTTP. What does it is loaded with the first request to one: hosts without such servers do without. */

import type { OAuth } from '../../auth/client/oauth.ts'
import type { OAuthOptions } from '../../auth/client/options.ts'

export function deferredLogin(options: OAuthOptions): OAuth {
  let made: OAuth | undefined
  const login = async (): Promise<OAuth> => {
    if (made) return made
    const { oauth } = await import('../../auth/client/oauth.ts')
    // Two may have waited for it; they must not each have tokens of their own.
    made ??= oauth(options)
    return made
  }
  return {
    headers: async (request) => (await login()).headers(request),
    onUnauthorized: async (refusal) => (await login()).onUnauthorized(refusal),
    onResponse: (request, headers) => made?.onResponse?.(request, headers),
    login: async (server, rest) => (await login()).login(server, rest),
    logout: async (server, rest) => (await login()).logout(server, rest),
  }
}
