/**
 * A protected MCP server and its authorization server in one scripted place, where every answer can be changed: for what no
 * honest authorization server would do. It logs everybody in at once and remembers all that was asked.
 */

import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import type { Redirect } from '../../../src/auth/client/index.ts'
import { httpHandler } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'

export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  /** The body as a form. */
  form: URLSearchParams
  body: string
  /** Resolves when the connection is closed before the answer. */
  gone: Promise<void>
}

export interface Reply {
  status?: number
  headers?: Record<string, string | string[]>
  json?: unknown
  text?: string
}

type Answer = (seen: Seen, realm: Realm) => Reply | undefined | Promise<Reply | undefined>

const PRM = '/.well-known/oauth-protected-resource/mcp'
const ASM = '/.well-known/oauth-authorization-server'

export class Realm {
  readonly seen: Seen[] = []
  /** What is answered instead, by path; undefined for what would be answered anyway. */
  readonly answers = new Map<string, Answer>()
  /** The access tokens that are taken, with their scopes. */
  readonly taken = new Map<string, string[]>()
  /** The refresh tokens that are taken. */
  readonly refreshable = new Set<string>()
  /** What a request needs, by the name of the tool. */
  readonly needed: Record<string, string[]> = {}
  resourceMetadata: Record<string, unknown> = {}
  serverMetadata: Record<string, unknown> = {}
  challenge = ''
  expiresIn: number | undefined = 3600
  /** Added to the way back from a login. */
  callback: Record<string, string> = {}
  origin = ''
  #count = 0
  readonly #http = createHttpServer((request, response) => void this.#handle(request, response))
  readonly #mcp = httpHandler(tools())

  async start(): Promise<this> {
    this.#http.listen(0, '127.0.0.1')
    await once(this.#http, 'listening')
    this.origin = `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
    this.resourceMetadata = { resource: this.url, authorization_servers: [this.origin] }
    this.serverMetadata = {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      revocation_endpoint: `${this.origin}/revoke`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['none'],
    }
    this.challenge = `Bearer resource_metadata="${this.origin}${PRM}"`
    return this
  }

  async stop(): Promise<void> {
    this.#mcp.close()
    this.#http.closeAllConnections()
    this.#http.close()
  }

  get url(): string {
    return `${this.origin}/mcp`
  }

  at(path: string): Seen[] {
    return this.seen.filter((each) => each.path === path)
  }

  grants(type: string): Seen[] {
    return this.at('/token').filter(({ form }) => form.get('grant_type') === type)
  }

  /** Somebody without a browser. */
  readonly redirect: Redirect = {
    uri: 'http://127.0.0.1:9/callback',
    visit: async (url) => (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? 'about:blank',
  }

  /** Tokens as the token endpoint gives them. */
  issue(scope: string | null = null): Record<string, unknown> {
    this.#count += 1
    const access = `access-${this.#count}`
    const refresh = `refresh-${this.#count}`
    this.taken.set(access, (scope ?? '').split(' '))
    this.refreshable.add(refresh)
    return { access_token: access, token_type: 'Bearer', refresh_token: refresh, expires_in: this.expiresIn, ...(scope && { scope }) }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin)
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', headers } = request
    const gone = new Promise<void>((resolve) => response.once('close', () => !response.writableFinished && resolve()))
    const seen = { method, path: url.pathname, query: url.searchParams, headers, form: new URLSearchParams(body), body, gone }
    this.seen.push(seen)
    const reply = (await this.answers.get(url.pathname)?.(seen, this)) ?? this.#answer(seen)
    if (!reply) return this.#mcp.node(request, response, JSON.parse(body || 'null'))
    const { status = 200, json, text, headers: more } = reply
    response.writeHead(status, { ...(json !== undefined && { 'content-type': 'application/json' }), ...more })
    response.end(json === undefined ? text : JSON.stringify(json))
  }

  #answer(seen: Seen): Reply | undefined {
    switch (seen.path) {
      case PRM:
        return { json: this.resourceMetadata }
      case ASM:
        return { json: this.serverMetadata }
      case '/register':
        return { status: 201, json: { client_id: `client-${this.at('/register').length}` } }
      case '/authorize':
        return { status: 302, headers: { location: this.#wayBack(seen) } }
      case '/token':
        return this.#token(seen)
      case '/revoke':
        return { status: 200 }
      case '/mcp':
        return this.#refusal(seen)
      default:
        return { status: 404 }
    }
  }

  #wayBack({ query }: Seen): string {
    const url = new URL(query.get('redirect_uri') ?? '')
    const params = { code: 'the-code', state: query.get('state') ?? '', ...this.callback }
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return url.href
  }

  #token({ form }: Seen): Reply {
    if (form.get('grant_type') === 'refresh_token') {
      // Rotation: whoever comes with an old one has stolen it, or did not keep to the lock.
      if (!this.refreshable.delete(form.get('refresh_token') ?? '')) return { status: 400, json: { error: 'invalid_grant' } }
      return { json: this.issue() }
    }
    const asked = this.at('/authorize').at(-1)?.query.get('scope') ?? form.get('scope')
    return { json: this.issue(asked) }
  }

  #refusal({ headers, body, method }: Seen): Reply | undefined {
    const scopes = this.taken.get(headers.authorization?.replace(/^(?:Bearer|DPoP) /, '') ?? '')
    if (!scopes) return { status: 401, headers: { 'www-authenticate': this.challenge } }
    const name = method === 'POST' ? ((JSON.parse(body) as { params?: { name?: string } }).params?.name ?? '') : ''
    const missing = (this.needed[name] ?? []).filter((scope) => !scopes.includes(scope))
    if (missing.length === 0) return undefined
    const challenge = `Bearer error="insufficient_scope", scope="${missing.join(' ')}", resource_metadata="${this.origin}${PRM}"`
    return { status: 403, headers: { 'www-authenticate': challenge } }
  }
}

function tools() {
  const server = createServer({ name: 'protected', version: '1' })
  for (const name of ['read', 'write', 'erase']) server.tool(name, { description: name }, () => `${name} done`)
  return server
}

const running: Realm[] = []
afterEach(async () => {
  for (const realm of running.splice(0)) await realm.stop()
})

export async function startRealm(): Promise<Realm> {
  const realm = await new Realm().start()
  running.push(realm)
  return realm
}
