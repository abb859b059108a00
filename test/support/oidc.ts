/**
 * A real authorization server for tests: oidc-provider on a random port of 127.0.0.1.
 *
 *   const as = await startAuthorizationServer()
 *   const resource = as.protect('http://127.0.0.1:3000/mcp', { scopes: ['files:read', 'files:write'] })
 *   ...
 *   const callback = await as.visit(authorizationUrl)   // what a browser would do: log in, agree, come back
 *   as.count('token:refresh_token')                     // how often somebody refreshed
 *   await as.stop()
 *
 * It has RFC 8414 and OpenID metadata, PKCE S256, `iss` (RFC 9207), dynamic registration, client id metadata documents
 * (`as.clientDocuments`), resource indicators (only for what was given to `protect`; others are `invalid_target`), refresh
 * tokens that rotate, revocation, introspection (as the client RESOURCE_SERVER), client credentials (as the client MACHINE)
 * and DPoP. Access tokens are JWTs (at+jwt, ES256) or opaque, as the resource asks.
 *
 * The user logs in and agrees without being asked. Who it is: `login_hint` of the request, else `as.user`.
 * With `as.showsPage` there is a page with the buttons "Log in" and "Cancel", for tests with a real browser.
 * `as.open` can be given to a client as the browser. What tests turn is in `AuthorizationServer` below.
 * Redirects of registered clients: `application_type: "native"` may use http on loopback, with any port.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { type Context, errors, Provider } from 'oidc-provider'
import { Memory } from './oidc-memory.ts'

/** May introspect every token. */
export const RESOURCE_SERVER = { client_id: 'resource-server', client_secret: 'resource-server-secret-0123456789abcdef' }
/** Gets tokens for itself by client credentials; client_secret_basic. */
export const MACHINE = { client_id: 'machine', client_secret: 'machine-secret-0123456789abcdef0123' }

export interface ProtectedResource {
  /** What may be asked for; the default is `mcp`. */
  scopes?: readonly string[]
  /** What a request gets that names no scope; without, it is refused. */
  unaskedScopes?: readonly string[]
  /** The default is `jwt`. */
  tokens?: 'jwt' | 'opaque'
  /** Another audience than the resource itself, for tokens that must be refused. */
  audience?: string
}

export interface AuthorizationServerOptions {
  /** Clients that are known beforehand, in the form of RFC 7591, besides RESOURCE_SERVER and MACHINE. */
  clients?: readonly Record<string, unknown>[]
  /** A path for the issuer, such as `/tenant`, to test the order of discovery; the default is none. */
  path?: string
  /** Features of oidc-provider that are to be off, such as `registration`, `dPoP`, `revocation`. */
  without?: readonly string[]
  /** Asks for a DPoP nonce. */
  dpopNonce?: boolean
}

/** A request as the authorization server saw it. */
export interface SeenRequest {
  /** `discovery`, `jwks`, `registration`, `authorization`, `resume`, `token`, `revocation`, `introspection`, `userinfo`, ... */
  route: string
  path: string
  status: number
  params: Record<string, unknown>
}

export class AuthorizationServer {
  /** Who logs in when the request does not say. */
  user = 'alice'
  /** The user says no. */
  refuses = false
  /** Shows a page, and waits for a button of it. */
  showsPage = false
  /** Seconds that an access token lives. */
  accessTokenSeconds = 3600
  /** Milliseconds by which a route answers later, such as `{ token: 200 }`. */
  readonly delayMs: Record<string, number> = {}
  /** Changes what a route answers, to be an authorization server that is wrong or hostile. */
  tamper: ((route: string, body: unknown) => unknown) | undefined
  /** Hears of every answer of a route, before it is changed. */
  onAnswer: ((seen: SeenRequest, body: unknown) => void) | undefined
  /** Everything that was asked of it, oldest first. */
  readonly requests: SeenRequest[] = []
  /** Client id metadata documents by URL: oidc-provider fetches these and no others. */
  readonly clientDocuments = new Map<string, Record<string, unknown>>()

  readonly #options: AuthorizationServerOptions
  readonly #resources = new Map<string, ProtectedResource>()
  readonly #memory = new Memory()
  #keys: JWK[] = []
  #server: Server | undefined
  #port = 0

  constructor(options: AuthorizationServerOptions) {
    this.#options = options
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`
  }
  get issuer(): string {
    return this.origin + (this.#options.path ?? '')
  }

  /** Lets tokens be issued for a resource, and returns the resource. */
  protect(resource: string, how: ProtectedResource = {}): string {
    this.#resources.set(resource, how)
    return resource
  }

  /** How many requests came to a route; `token:refresh_token` and the like are those of one grant type. */
  count(route: string): number {
    const [name, grant] = route.split(':')
    return this.requests.filter((seen) => seen.route === name && (grant === undefined || seen.params.grant_type === grant)).length
  }

  async start(): Promise<this> {
    if (this.#keys.length === 0) await this.newKeys()
    const server = createServer().listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    const provider = this.#provider()
    const answer = provider.callback()
    server.on('request', (request, response) => {
      // The provider is mounted at the path of the issuer; well-known URLs of RFC 8414 have the path behind them.
      const path = this.#options.path ?? ''
      const url = this.#withScopes(request.url ?? '/')
      // A restart must not find anybody holding a connection to what was there before.
      response.setHeader('connection', 'close')
      if (url.startsWith('/interaction/')) return void this.#interact(provider, request, response)
      const isInserted = path && url === `/.well-known/oauth-authorization-server${path}`
      const inner = isInserted ? '/.well-known/oauth-authorization-server' : url.startsWith(`${path}/`) ? url.slice(path.length) : undefined
      if (inner === undefined) return void response.writeHead(404).end()
      Object.assign(request, { originalUrl: path + inner, url: inner })
      answer(request, response)
    })
    this.#server = server
    return this
  }

  async stop(): Promise<void> {
    const server = this.#server
    if (!server?.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }

  /** Ends and starts on the same port, with the same keys; what it issued is still known, unless it is to forget. */
  async restart(how: { forget?: boolean; newKeys?: boolean } = {}): Promise<void> {
    await this.stop()
    if (how.forget) this.#memory.clear()
    if (how.newKeys) await this.newKeys()
    await this.start()
  }

  /** The user withdraws every grant: refresh tokens and opaque access tokens are worth nothing from now on. */
  revokeGrants(): void {
    this.#memory.forgetGrants()
  }

  async newKeys(): Promise<void> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    this.#keys = [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: `key-${Date.now()}` }]
  }

  /** Goes through the pages as a browser would, and returns the URL of the client that it ends at, without asking for it. */
  async visit(authorizationUrl: string | URL): Promise<URL> {
    const cookies = new Map<string, string>()
    let url = new URL(authorizationUrl)
    for (let hop = 0; hop < 10; hop++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { redirect: 'manual', headers: cookie ? { cookie } : {} })
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (name !== undefined) cookies.set(name, value ?? '')
      }
      const location = response.headers.get('location')
      if (location === null)
        throw new Error(`The authorization server shows a page at ${url.pathname}: ${response.status} ${await response.text()}`)
      await response.body?.cancel()
      url = new URL(location, url)
      if (url.origin !== this.origin) return url
    }
    throw new Error('The authorization server redirects for ever')
  }

  /** A browser: visits, and then asks the client for the page that it was sent to. */
  open = async (authorizationUrl: string | URL): Promise<void> => {
    const response = await fetch(await this.visit(authorizationUrl))
    await response.text()
  }

  async #interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await provider.interactionDetails(request, response)
    if (this.showsPage && request.method === 'GET')
      return void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(LOGIN_PAGE)
    const isRefused = this.showsPage ? (await readText(request)).includes('no') : this.refuses
    const login = { login: { accountId: String(params.login_hint ?? this.user) }, consent: {} }
    await provider.interactionFinished(request, response, isRefused ? { error: 'access_denied' } : login)
  }

  #provider(): Provider {
    const { without = [], clients = [], dpopNonce = false } = this.#options
    const lifetime = () => this.accessTokenSeconds
    const features = {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async () => true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      clientCredentials: { enabled: true },
      userinfo: { enabled: true },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => dpopNonce },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02', cacheDuration: { min: 1, max: 1 } },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => undefined,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx: Context, resource: string) => this.#resourceServer(resource),
      },
    }
    for (const name of without) Object.assign(features, { [name]: { enabled: false } })
    const provider = new Provider(this.issuer, {
      adapter: this.#memory.adapter,
      clients: [
        { ...RESOURCE_SERVER, grant_types: [], response_types: [], redirect_uris: [] },
        { ...MACHINE, grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
        ...clients,
      ],
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      jwks: { keys: this.#keys },
      cookies: { keys: ['of the tests'] },
      pkce: { required: () => true },
      scopes: ['openid', 'offline_access'],
      features,
      ttl: {
        AccessToken: lifetime,
        ClientCredentials: lifetime,
        RefreshToken: 86_400,
        IdToken: 3600,
        Interaction: 600,
        Session: 86_400,
        Grant: 86_400,
      },
      rotateRefreshToken: true,
      issueRefreshToken: async (_ctx: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
        client.grantTypeAllowed('refresh_token'),
      interactions: { url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
      findAccount: async (_ctx: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ sub }) }),
      loadExistingGrant: (ctx: Context) => agree(ctx),
      clientBasedCORS: () => true,
      renderError: async (ctx: Context, out: Record<string, string>) => {
        ctx.body = JSON.stringify(out)
      },
      fetch: async (url: URL | string) => this.#clientDocument(String(url)),
    })
    provider.use((ctx, next) => this.#watch(ctx, next))
    return provider
  }

  async #watch(ctx: Context & { path?: string; status?: number }, next: () => Promise<void>): Promise<void> {
    const path = ctx.path ?? ''
    const route = ROUTES[path.slice(path.lastIndexOf('/'))]
    await sleep(this.delayMs[route ?? ''] ?? 0)
    try {
      await next()
    } finally {
      const known = ctx.oidc?.route ?? route ?? path
      const seen = { route: known, path, status: ctx.status ?? 0, params: { ...ctx.oidc?.params } }
      this.requests.push(seen)
      this.onAnswer?.(seen, ctx.body)
      if (this.tamper) ctx.body = this.tamper(known, ctx.body)
    }
  }

  #resourceServer(resource: string): object {
    const how = this.#resources.get(resource)
    if (how === undefined) throw new errors.InvalidTarget()
    return {
      scope: (how.scopes ?? ['mcp']).join(' '),
      audience: how.audience ?? resource,
      accessTokenFormat: how.tokens ?? 'jwt',
      jwt: { sign: { alg: 'ES256' } },
    }
  }

  /** Completes an authorization request that names no scope, which oidc-provider itself always refuses. */
  #withScopes(path: string): string {
    const url = new URL(path, this.origin)
    if (!url.pathname.endsWith('/auth') || url.searchParams.has('scope')) return path
    const { unaskedScopes } = this.#resources.get(url.searchParams.get('resource') ?? '') ?? {}
    return unaskedScopes ? `${path}&${new URLSearchParams({ scope: unaskedScopes.join(' ') })}` : path
  }

  #clientDocument(url: string): Response {
    const found = this.clientDocuments.get(url)
    return found ? Response.json(found) : new Response('', { status: 404 })
  }
}

const LOGIN_PAGE = `<!doctype html><title>Example login</title><h1>Example login</h1><form method="post">
<button name="answer" value="yes">Log in</button> <button name="answer" value="no">Cancel</button></form>`

/** The names that oidc-provider gives its routes, by the end of their path, for those that can be delayed. */
const ROUTES: Record<string, string> = {
  '/token': 'token',
  '/reg': 'registration',
  '/jwks': 'jwks',
  '/introspection': 'introspection',
  '/revocation': 'revocation',
  '/oauth-authorization-server': 'discovery',
  '/openid-configuration': 'discovery',
}

/** The user agrees to all that is asked for, again each time: a client that asks for more gets more. */
async function agree({ oidc }: Context): Promise<unknown> {
  if (!oidc) return undefined
  const { client, session, provider } = oidc
  const known = session.grantIdFor(client.clientId)
  const grant =
    (known && (await provider.Grant.find(known))) || new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
  const asked = [...oidc.requestParamScopes]
  grant.addOIDCScope(asked.join(' '))
  for (const [resource, { scopes }] of Object.entries(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, asked.filter((scope) => scopes.has(scope)).join(' '))
  }
  await grant.save()
  return grant
}

/** Several may run at once, as when a resource moves from one authorization server to another. */
export const startAuthorizationServer = (options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> =>
  new AuthorizationServer(options).start()
