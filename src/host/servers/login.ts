/** Logs in to servers over HTTP. */

import type { OAuth } from '../../auth/client/oauth.ts'
import type { OAuthOptions } from '../../auth/client/options.ts'
import type { TokenStore } from '../../auth/store/token-store.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ServerSpec } from '../model/server-spec.ts'

/** The logins of a host, by server. */
export class Logins {
  /** The tokens of all servers. */
  readonly tokens: TokenStore
  readonly #byServer = new Map<string, HostLogin>()

  constructor(tokens: TokenStore) {
    this.tokens = tokens
  }

  add(server: string, login: HostLogin): void {
    this.#byServer.set(server, login)
  }

  forget(server: string): void {
    this.#byServer.delete(server)
  }

  /** Whether the last request to the server carried the tokens of a login. */
  isLoggedIn(server: string): boolean {
    return this.#byServer.get(server)?.isLoggedIn ?? false
  }

  async login(spec: ServerSpec, signal?: AbortSignal): Promise<void> {
    const { login, url } = this.#loginFor(spec)
    await login.login(url, { signal })
  }

  async logout(spec: ServerSpec, signal?: AbortSignal): Promise<void> {
    const { login, url } = this.#loginFor(spec)
    await login.logout(url, { signal })
  }

  #loginFor({ id, transport }: ServerSpec): { login: HostLogin; url: string } {
    const login = this.#byServer.get(id)
    if (login && transport.type === 'http') return { login, url: transport.url }
    const why = transport.type === 'http' ? 'its configuration sets the authorization' : 'it has no URL'
    throw new McpError('ERR_UNSUPPORTED', `There is no login for the server ${JSON.stringify(id)}: ${why}`)
  }
}

/** Whether the host logs in to the server: over HTTP, if the configuration sets no authorization header. */
export const needsLogin = ({ transport }: ServerSpec): boolean =>
  transport.type === 'http' && !Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization')

interface HostLogin extends OAuth {
  readonly isLoggedIn: boolean
}

/** Loads the OAuth client with the first use: hosts without servers over HTTP do not need it. */
export function deferredLogin(options: OAuthOptions): HostLogin {
  let made: OAuth | undefined
  let isLoggedIn = false
  const login = async (): Promise<OAuth> => {
    if (made) return made
    const { oauth } = await import('../../auth/client/oauth.ts')
    // Two callers may have waited for the import. They must share one client and its tokens.
    made ??= oauth(options)
    return made
  }
  return {
    get isLoggedIn() {
      return isLoggedIn
    },
    headers: async (request) => {
      const headers = await (await login()).headers(request)
      isLoggedIn = headers.authorization !== undefined
      return headers
    },
    onUnauthorized: async (refusal) => (await login()).onUnauthorized(refusal),
    onResponse: (request, headers) => made?.onResponse?.(request, headers),
    login: async (server, rest) => (await login()).login(server, rest),
    logout: async (server, rest) => {
      isLoggedIn = false
      await (await login()).logout(server, rest)
    },
  }
}
