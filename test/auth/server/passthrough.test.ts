import { createServer as createHttpServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resourceServer, tokenExchange } from '../../../src/auth/server/index.ts'
import { createExchange } from '../../../src/auth/server/on-behalf/token-exchange.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import { portOf } from '../../support/http-requests.ts'
import { askModern, callTool, openSession, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import type { Message } from '../../support/raw-channel.ts'
import { json, startIssuer } from '../../support/token-issuer.ts'

/** An API behind the server, which writes down everything it is sent. */
async function upstreamApi() {
  const seen: { authorization: string | undefined; all: string }[] = []
  const at = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      seen.push({ authorization: request.headers.authorization, all: `${request.url}\n${request.rawHeaders.join('\n')}\n${body}` })
      json(response, { ok: true })
    })
  })
  await new Promise<void>((resolve) => at.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    at.closeAllConnections()
    at.close()
  })
  return { url: `http://127.0.0.1:${portOf(at)}`, seen }
}

async function acting(maxExchanged = 1000) {
  const issuer = await startIssuer()
  const clock = fakeClock()
  const upstream = await upstreamApi()
  const exchanges: URLSearchParams[] = []
  const answer: { now: (params: URLSearchParams) => Message } = {
    now: (params) => ({
      access_token: `upstream-token-${exchanges.length}`,
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 300,
      scope: params.get('scope') ?? '',
    }),
  }
  issuer.routes.set('/token', (_request, response, body) => {
    const params = new URLSearchParams(body)
    exchanges.push(params)
    const said = answer.now(params)
    json(response, said, said.error ? 400 : 200)
  })
  const tokenFor = createExchange({ issuer: issuer.url, clientId: 'mcp', clientSecret: 'mcp-secret', clock }, maxExchanged)
  const failures: unknown[] = []
  const server = testServer({ onError: (error) => failures.push(error) })
  server.tool('weather', {}, async (_args, ctx) => {
    const token = await tokenFor(ctx.caller.auth, { audience: upstream.url, scopes: ['weather:read'] })
    await fetch(`${upstream.url}/v1?user=${ctx.caller.auth?.subject}`, { headers: { authorization: `Bearer ${token}` } })
    return 'sunny'
  })
  server.tool('nosy', {}, async (_args, ctx) => {
    // As careless as a handler can be: everything it has goes out.
    const all = {
      caller: ctx.caller,
      meta: ctx.meta,
      arguments: ctx.arguments,
      callId: ctx.callId,
      keys: Object.keys(ctx.caller.auth ?? {}),
    }
    await fetch(upstream.url, { method: 'POST', body: JSON.stringify(all) })
    return JSON.stringify(all)
  })
  const { url } = await serve(server, { auth: issuer.protect() })
  return { issuer, clock, upstream, exchanges, answer, failures, url }
}

describe('the token of a client', () => {
  test('the token of a client is never passed on: the upstream API sees its own token', async () => {
    proves('T-AUTH-066', 'T-AUTH-067', 'T-ELIC-070', 'T-SEC-003')
    const { issuer, upstream, exchanges, url } = await acting()
    const tokens = [await issuer.token(), await issuer.token({ sub: 'bob' })]
    const session = await openSession(url, '2025-11-25', { headers: { authorization: `Bearer ${tokens[0]}` } })
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` }
      expect((await askModern(url, callTool('weather'), headers)).text).toContain('sunny')
      expect((await askModern(url, callTool('nosy'), headers)).text).not.toContain(token)
    }
    await session.ask(callTool('weather'))
    await session.ask(callTool('nosy'))
    expect(upstream.seen).toHaveLength(6)
    for (const { all } of upstream.seen) for (const token of tokens) expect(all).not.toContain(token.slice(-40))
    expect(upstream.seen.map(({ authorization }) => authorization).filter(Boolean)).toEqual([
      'Bearer upstream-token-1',
      'Bearer upstream-token-2',
      'Bearer upstream-token-1',
    ])
    expect(exchanges[0]?.get('subject_token')).toBe(tokens[0])
    expect(exchanges[0]?.get('audience')).toBe(upstream.url)
    expect(exchanges[0]?.get('scope')).toBe('weather:read')
  })

  test('the token of a client is exchanged once for many calls, and again after its expiry', async () => {
    const { issuer, clock, exchanges, url } = await acting()
    const headers = await issuer.bearer()
    await Promise.all(Array.from({ length: 20 }, () => askModern(url, callTool('weather'), headers)))
    expect(exchanges).toHaveLength(1)
    await clock.advance(269_000)
    await askModern(url, callTool('weather'), headers)
    expect(exchanges).toHaveLength(1)
    await clock.advance(1_000)
    await askModern(url, callTool('weather'), headers)
    expect(exchanges).toHaveLength(2)
  })

  test('the token of a client is not accepted as its own exchange', async () => {
    const { issuer, upstream, answer, failures, url } = await acting()
    answer.now = (params) => ({ access_token: params.get('subject_token'), token_type: 'Bearer' })
    const { text } = await askModern(url, callTool('weather'), await issuer.bearer())
    expect(text).toContain('Internal error')
    expect(String(failures[0])).toContain('returned the token of the caller')
    expect(upstream.seen).toHaveLength(0)
  })

  test('the token of a client is in no error when the exchange fails', async () => {
    const { issuer, answer, failures, url } = await acting()
    const token = await issuer.token()
    for (const said of [{ error: `invalid_target ${token}` }, { access_token: 7 }, { access_token: 'x', token_type: 'mac' }]) {
      answer.now = () => said
      const { text } = await askModern(url, callTool('weather'), { authorization: `Bearer ${token}` })
      expect(text).not.toContain(token.slice(-40))
    }
    expect(failures).toHaveLength(3)
    for (const failure of failures) expect(JSON.stringify([String(failure), failure])).not.toContain(token.slice(-40))
  })

  test('the token of a client is shown to no other issuer than its own', async () => {
    const [mine, other] = [await startIssuer(), await startIssuer()]
    const tokenFor = tokenExchange({ issuer: other.url, clientId: 'a', clientSecret: 'b' })
    const server = testServer()
    server.tool('x', {}, async (_args, ctx) => tokenFor(ctx.caller.auth, { audience: 'https://api.example' }))
    const { url } = await serve(server, { auth: mine.protect() })
    expect((await askModern(url, callTool('x'), await mine.bearer())).text).toContain('Internal error')
    expect(other.hits.size).toBe(0)
  })

  test('the cache of exchanged tokens is bounded', async () => {
    const { issuer, exchanges, url } = await acting(2)
    const headers = await Promise.all(['a', 'b', 'c'].map((sub) => issuer.bearer({ sub })))
    for (const each of [0, 1, 0, 1]) await askModern(url, callTool('weather'), headers[each])
    expect(exchanges).toHaveLength(2)
    for (const each of [2, 1]) await askModern(url, callTool('weather'), headers[each])
    expect(exchanges).toHaveLength(3)
    await askModern(url, callTool('weather'), headers[0])
    expect(exchanges).toHaveLength(4)
  })
})

describe('credentials', () => {
  test('credentials are in no answer, log, error or hook, with or without failure', async () => {
    proves('T-AUTH-050')
    const issuer = await startIssuer()
    const secret = 'introspection-secret-CANARY-1'
    const out: unknown[] = []
    const original = { error: console.error, log: console.log, warn: console.warn }
    console.error =
      console.log =
      console.warn =
        (...all: unknown[]) => void out.push(all.map((each) => (each instanceof Error ? `${each.stack} ${JSON.stringify(each)}` : each)))
    onTestFinished(() => void Object.assign(console, original))
    issuer.routes.set('/introspect', (_request, response) => response.writeHead(500).end('CANARY'))
    const server = testServer({
      onError: (error, failure) => out.push(String((error as Error).stack), failure),
    })
    server.tool('fail', {}, (_args, ctx) => {
      throw new Error(`failed for ${JSON.stringify(ctx)} ${JSON.stringify(ctx.caller)}`)
    })
    server.tool('log', {}, (_args, ctx) => {
      ctx.log.error(ctx.caller)
      return JSON.stringify(ctx.caller)
    })
    server.use((call, next) => {
      out.push({ method: call.method, caller: call.caller })
      return next()
    })
    const auth = resourceServer({
      resource: 'https://mcp.example.com/mcp',
      issuer: { issuer: issuer.url, introspection: { clientId: 'mcp', clientSecret: secret } },
    })
    const { url } = await serve(server, { auth, onRefused: (what) => out.push(what) })
    const tokens = [
      await issuer.token(),
      await issuer.token({ exp: 1 }),
      await issuer.token({ aud: 'x' }),
      'opaque-token-CANARY-2',
      `${'CANARY3'.repeat(2000)}`,
    ]
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` }
      for (const name of ['fail', 'log', 'none']) out.push(await askModern(url, callTool(name), headers).catch(String))
      out.push(await askModern(`${url}?access_token=${token}`, callTool('log')).catch(String))
      out.push(await openSession(url, '2025-11-25', { headers }).catch(String))
    }
    // A session gives back what the test itself put into it.
    const text = JSON.stringify(out.filter((each) => !(typeof each === 'object' && each !== null && 'askStream' in each)))
    expect(text.length).toBeGreaterThan(1000)
    for (const token of [...tokens, secret]) expect(text).not.toContain(token.slice(-30))
  })
})
