/** An issuer of access tokens for tests that need tokens no honest authorization server would make. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { calculateJwkThumbprint, exportJWK, exportPKCS8, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'
import { type HttpAuth, type ResourceServerOptions, resourceServer } from '../../src/auth/server/index.ts'
import { portOf } from './http-requests.ts'
import { serve, testServer } from './http-service.ts'

export const RESOURCE = 'https://mcp.example.com/mcp'

export type Claims = Record<string, unknown>
type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']

export interface TestIssuer {
  url: string
  /** The key that tokens are signed with, and its public half. */
  key: Key
  jwk: JWK
  /** How often each path was asked for. */
  hits: Map<string, number>
  /** What is answered at a path; to be changed by tests. */
  routes: Map<string, (request: IncomingMessage, response: ServerResponse, body: string) => void>
  /** A good token for the resource, with other claims where they are given; undefined takes one away. */
  token(claims?: Claims, header?: Partial<JWTHeaderParameters>, key?: Key): Promise<string>
  /** The same in a header. */
  bearer(claims?: Claims): Promise<Record<string, string>>
  protect(options?: Partial<ResourceServerOptions>): HttpAuth
}

export const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export const seconds = (): number => Math.floor(Date.now() / 1000)

export async function startIssuer(alg = 'ES256'): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'k1', alg, use: 'sig' }
  const hits: TestIssuer['hits'] = new Map()
  const routes: TestIssuer['routes'] = new Map()
  const at = createServer((request, response) => {
    const path = (request.url as string).split('?')[0] as string
    hits.set(path, (hits.get(path) ?? 0) + 1)
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const route = routes.get(path)
      if (route) route(request, response, body)
      else response.writeHead(404).end()
    })
  })
  await new Promise<void>((resolve) => at.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    at.closeAllConnections()
    at.close()
  })
  const url = `http://127.0.0.1:${portOf(at)}`
  routes.set('/.well-known/oauth-authorization-server', (_request, response) =>
    json(response, {
      issuer: url,
      jwks_uri: `${url}/jwks`,
      introspection_endpoint: `${url}/introspect`,
      token_endpoint: `${url}/token`,
    }),
  )
  routes.set('/jwks', (_request, response) => json(response, { keys: [jwk] }))
  const token: TestIssuer['token'] = (claims = {}, header = {}, key = privateKey) =>
    new SignJWT(claimsOf(url, claims)).setProtectedHeader({ alg, typ: 'at+jwt', kid: 'k1', ...header }).sign(key)
  return {
    url,
    key: privateKey,
    jwk,
    hits,
    routes,
    token,
    bearer: async (claims) => ({ authorization: `Bearer ${await token(claims)}` }),
    protect: (options = {}) => resourceServer({ resource: RESOURCE, issuer: url, ...options }),
  }
}

export function claimsOf(issuer: string, changes: Claims = {}): Claims {
  const now = seconds()
  const claims: Claims = {
    iss: issuer,
    aud: RESOURCE,
    sub: 'alice',
    client_id: 'client-1',
    iat: now,
    exp: now + 300,
    jti: crypto.randomUUID(),
    scope: 'mcp',
    ...changes,
  }
  for (const [name, value] of Object.entries(claims)) if (value === undefined) delete claims[name]
  return claims
}

/** A protected server with one tool, at a port. */
export async function protectedServer(options: Partial<ResourceServerOptions> = {}) {
  const issuer = await startIssuer()
  const calls: string[] = []
  const server = testServer()
  server.tool('note', {}, (_args, { caller }) => {
    calls.push(caller.principal ?? '')
    return JSON.stringify(caller.auth)
  })
  const listening = await serve(server, { auth: issuer.protect(options) })
  return { issuer, server, calls, url: listening.url, port: listening.port }
}

/** Whoever has the key that a token is bound to. */
export async function keyHolder(alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  const privateJwk = await exportJWK(privateKey)
  const jkt = await calculateJwkThumbprint(jwk, 'sha256')
  const proof = async (
    token: string,
    changes: Claims = {},
    header: Record<string, unknown> = {},
    key: Key = privateKey,
  ): Promise<string> => {
    const ath = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))).toString('base64url')
    const claims: Claims = { htm: 'POST', htu: RESOURCE, iat: seconds(), jti: crypto.randomUUID(), ath, ...changes }
    for (const [name, value] of Object.entries(claims)) if (value === undefined) delete claims[name]
    return new SignJWT(claims).setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header }).sign(key)
  }
  return { jkt, jwk, privateJwk, pem: await exportPKCS8(privateKey), proof }
}
