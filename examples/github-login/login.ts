/**
 * An authorization server whose people log in with GitHub. GitHub issues no tokens for your server and registers no MCP clients, so
 * this small server stands between: clients register here, people log in there, and tokens are for your server only.
 */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { type Context, errors, Provider } from 'oidc-provider'

export interface GitHub {
  /** https://github.com */
  site: string
  /** https://api.github.com */
  api: string
  clientId: string
  clientSecret: string
}

export interface Login {
  /** Serves the pages and endpoints of the authorization server. */
  handle(request: IncomingMessage, response: ServerResponse): void
}

/**
 * @param url where it is served, the issuer of the tokens
 * @param resource the MCP server that the tokens are for
 */
export async function gitHubLogin(url: string, resource: string, scopes: readonly string[], github: GitHub): Promise<Login> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true }) // keep it: tokens end with it
  const names = new Map<string, string>() // a database: the name of each account
  const states = new Map<string, string>()

  const provider = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'login' }] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    ttl: { AccessToken: 3600, IdToken: 3600, Interaction: 600, Session: 86_400, Grant: 14 * 86_400, RefreshToken: 14 * 86_400 },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: Context, wanted: string) => {
          if (wanted !== resource) throw new errors.InvalidTarget()
          return { scope: scopes.join(' '), audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
        },
      },
    },
    interactions: { url: (_ctx: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_ctx: Context, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_ctx: Context, { accountId }: { accountId: string }) => ({ login: names.get(accountId) }),
  })
  const callback = provider.callback()

  /** The page with the question, the way to GitHub, and the way back. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const { uid, params } = await provider.interactionDetails(request, response)
    const back = `${url}/interaction/${uid}/github`
    if (request.method === 'GET' && !pathname.endsWith('/github')) {
      // Any program can register here, so the person must see which one asks, each time.
      const client = await provider.Client.find(String(params.client_id))
      const page = pageFor(client?.clientName ?? 'A program', String(params.redirect_uri), String(params.scope))
      return void response.writeHead(200, PAGE_HEADERS).end(page)
    }
    if (request.method === 'POST') {
      const state = randomBytes(16).toString('hex')
      states.set(uid, state)
      const query = new URLSearchParams({ client_id: github.clientId, redirect_uri: back, state, scope: 'read:user' })
      return void response.writeHead(303, { location: `${github.site}/login/oauth/authorize?${query}` }).end()
    }
    const code = searchParams.get('code')
    const isExpected = states.get(uid) !== undefined && states.get(uid) === searchParams.get('state')
    states.delete(uid)
    if (code === null || !isExpected) return provider.interactionFinished(request, response, { error: 'access_denied' })

    const { id, login } = await userOf(github, code, back)
    const accountId = `github-${id}` // the number stays the same when a person changes the name
    names.set(accountId, login)
    const grant = new provider.Grant({ accountId, clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope)) // offline_access, for refresh tokens
    grant.addResourceScope(resource, scopes.join(' '))
    await provider.interactionFinished(request, response, { login: { accountId }, consent: { grantId: await grant.save() } })
  }

  return {
    handle: (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return callback(request, response)
      interact(request, response).catch((error: Error) => {
        console.error('The login failed:', error.message)
        if (!response.headersSent) response.writeHead(400).end('The login failed. Start it again.')
      })
    },
  }
}

async function userOf({ site, api, clientId, clientSecret }: GitHub, code: string, back: string): Promise<{ id: number; login: string }> {
  const headers = { accept: 'application/json' }
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, code, redirect_uri: back })
  const answer = (await (await fetch(`${site}/login/oauth/access_token`, { method: 'POST', headers, body })).json()) as {
    access_token?: string
  }
  if (answer.access_token === undefined) throw new Error('GitHub gave no token')
  const user = await fetch(`${api}/user`, { headers: { ...headers, authorization: `Bearer ${answer.access_token}` } })
  if (!user.ok) throw new Error(`GitHub answered ${user.status}`)
  return (await user.json()) as { id: number; login: string }
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const pageFor = (client: string, redirect: string, scope: string): string => `<!doctype html><title>Log in</title>
<h1>${escaped(client)} wants to use this server for you</h1>
<p>It may: ${escaped(scope)}. It gets the answer at ${escaped(new URL(redirect).host)}.</p>
<form method="post"><button>Continue with GitHub</button></form>`
