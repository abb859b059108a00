import { generateSecret, importPKCS8 } from 'jose'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { NONCE_MS, sealedNonces } from '../../../src/auth/server/dpop/nonces.ts'
import { type DpopOptions, memoryReplays, type ResourceServerOptions } from '../../../src/auth/server/index.ts'
import { McpError } from '../../../src/protocol/errors.ts'
import { memoryKeyRing } from '../../../src/protocol/interfaces/in-process-services.ts'
import { redis } from '../../../src/redis/index.ts'
import type { SharedStore } from '../../../src/store/index.ts'
import { fakeClock } from '../../../src/testing/index.ts'
import type { HttpAnswer } from '../../support/http-requests.ts'
import { http } from '../../support/http-requests.ts'
import { askModern, callTool, modern, serve, testServer } from '../../support/http-service.ts'
import { proves } from '../../support/proves.ts'
import { redisOfFile } from '../../support/redis-server.ts'
import { storesInMemory } from '../../support/replicas.ts'
import { type Claims, keyHolder, RESOURCE, seconds, startIssuer } from '../../support/token-issuer.ts'

async function bound(dpop: DpopOptions | false = {}, more: Partial<ResourceServerOptions> = {}) {
  const issuer = await startIssuer()
  const holder = await keyHolder()
  const { url, port } = await serve(testServer(), { auth: issuer.protect({ dpop, ...more }) })
  const token = await issuer.token({ cnf: { jkt: holder.jkt } })
  const ask = (proof: string | string[] | undefined, authorization = `DPoP ${token}`): Promise<HttpAnswer> => {
    const call = modern(callTool('hi'))
    return http(url, { ...call, headers: { ...call.headers, authorization, ...(proof === undefined ? {} : { dpop: proof }) } })
  }
  return { issuer, holder, url, port, token, ask }
}

describe('replicas that share a store', () => {
  const server = redisOfFile()
  test.each([
    ['memory', async () => storesInMemory(2)],
    ['Redis', async () => [redis((await server()).url), redis((await server()).url)]],
  ])('a proof that was used at one replica is refused at another, with a store in %s', async (_name, make) => {
    const issuer = await startIssuer()
    const holder = await keyHolder()
    const stores: SharedStore[] = await make()
    const urls: string[] = []
    for (const store of stores) urls.push((await serve(testServer(), { store, auth: issuer.protect({ dpop: {} }) })).url)
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const token = await issuer.token({ cnf: { jkt: holder.jkt } })
    const ask = async (url: string | undefined, proof: string): Promise<HttpAnswer> => {
      const call = modern(callTool('hi'))
      return http(url as string, { ...call, headers: { ...call.headers, authorization: `DPoP ${token}`, dpop: proof } })
    }
    const proof = await holder.proof(token)
    expect((await ask(urls[0], proof)).status).toBe(200)
    expect(await ask(urls[1], proof)).toMatchObject({ status: 401, message: { error: { message: 'The DPoP proof was already used' } } })
    expect((await ask(urls[1], await holder.proof(token))).status).toBe(200)
  })

  test('without the store a bound token is refused with 503', async () => {
    const issuer = await startIssuer()
    const holder = await keyHolder()
    const auth = issuer.protect({ dpop: {} })
    auth.shareWith?.({ first: () => Promise.reject(new McpError('ERR_STORE_DOWN', 'No connection')) })
    const { url } = await serve(testServer(), { auth })
    const token = await issuer.token({ cnf: { jkt: holder.jkt } })
    const headers = { authorization: `DPoP ${token}`, dpop: await holder.proof(token) }
    expect(await askModern(url, callTool('hi'), headers)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
  })
})

const challengeOf = ({ headers }: HttpAnswer): string => String(headers['www-authenticate'])

describe('a token that is bound to a key', () => {
  test('a bound token is accepted with a proof', async () => {
    const { holder, token, ask } = await bound()
    expect((await ask(await holder.proof(token))).status).toBe(200)
    expect((await ask(await holder.proof(token, { htu: `${RESOURCE}?a=1#b` }))).status).toBe(200)
  })

  test('a bound token is not accepted as a bearer token, with or without a proof', async () => {
    const { holder, token, ask } = await bound()
    for (const proof of [undefined, await holder.proof(token)]) {
      const answer = await ask(proof, `Bearer ${token}`)
      expect(answer.status).toBe(401)
      expect(challengeOf(answer)).toContain('error="invalid_token"')
    }
  })

  test('an unbound token is not accepted as a bound one', async () => {
    const { issuer, holder, ask } = await bound()
    const plain = await issuer.token()
    expect((await ask(await holder.proof(plain), `DPoP ${plain}`)).status).toBe(401)
  })

  test.each<[string, Claims, Record<string, unknown>]>([
    ['for another method', { htm: 'GET' }, {}],
    ['for a method in small letters', { htm: 'post' }, {}],
    ['for another path', { htu: `${RESOURCE}2` }, {}],
    ['for another host', { htu: 'https://evil.example/mcp' }, {}],
    ['for another scheme', { htu: RESOURCE.replace('https', 'http') }, {}],
    ['for no URL', { htu: undefined }, {}],
    ['that is too old', { iat: seconds() - 70 }, {}],
    ['from the future', { iat: seconds() + 70 }, {}],
    ['without time', { iat: undefined }, {}],
    ['for another token', { ath: 'x' }, {}],
    ['for no token', { ath: undefined }, {}],
    ['without id', { jti: undefined }, {}],
    ['with an empty id', { jti: '' }, {}],
    ['with an id without end', { jti: 'x'.repeat(257) }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['without a key', {}, { jwk: undefined }],
  ])('a bound token is refused with a proof %s', async (_what, claims, header) => {
    const { holder, token, ask } = await bound()
    const answer = await ask(await holder.proof(token, claims, header))
    expect(answer.status).toBe(401)
    expect(challengeOf(answer)).toMatch(/^DPoP algs="ES256[^"]*", error="invalid_dpop_proof"/)
    expect(challengeOf(answer)).toContain('resource_metadata=')
  })

  test.each([
    ['/mcp', RESOURCE, true],
    ['/mcp?a=1', RESOURCE, true],
    ['/messages?sessionId=7', 'https://mcp.example.com/messages', true],
    ['//evil.example/mcp', 'https://evil.example/mcp', false],
    ['//evil.example/mcp', 'https://mcp.example.com//evil.example/mcp', true],
    ['/\\\\evil.example/mcp', 'https://evil.example/mcp', false],
    ['https://evil.example/x', 'https://evil.example/x', false],
    ['https://evil.example/x', 'https://mcp.example.com/x', true],
  ])('a bound token at the target %s is accepted with a proof for %s: %s', async (url, htu, isTaken) => {
    const issuer = await startIssuer()
    const holder = await keyHolder()
    const token = await issuer.token({ cnf: { jkt: holder.jkt } })
    const headers: Record<string, string> = { authorization: `DPoP ${token}`, dpop: await holder.proof(token, { htu }) }
    const visitor = await issuer.protect({ dpop: {} }).authenticate({
      method: 'POST',
      url,
      remoteAddress: undefined,
      header: (name) => headers[name],
      count: (name) => (name in headers ? 1 : 0),
    })
    if (isTaken) expect(visitor).toMatchObject({ auth: { subject: 'alice' } })
    else expect(visitor).toMatchObject({ status: 401, message: 'The DPoP proof is for another URL' })
  })

  test('a bound token for another resource is refused, whatever its proof', async () => {
    proves('R-AUTHX-036')
    const { issuer, holder, ask } = await bound()
    const other = await issuer.token({ aud: 'https://other.example/mcp', cnf: { jkt: holder.jkt } })
    expect((await ask(await holder.proof(other), `DPoP ${other}`)).status).toBe(401)
    const own = await issuer.token({ cnf: { jkt: holder.jkt } })
    expect((await ask(await holder.proof(own), `DPoP ${own}`)).status).toBe(200)
  })

  test('a bound token is refused with a private, secret or other key, or a wrong signature', async () => {
    const { holder, token, ask } = await bound()
    const other = await keyHolder()
    const secret = await generateSecret('HS256', { extractable: true })
    const oct = { kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA' }
    const proofs = [
      await holder.proof(token, {}, { jwk: holder.privateJwk }),
      await holder.proof(token, {}, { alg: 'HS256', jwk: oct }, secret as never),
      await other.proof(token),
      await holder.proof(token, {}, {}, await importPKCS8(other.pem, 'ES256')),
      (await holder.proof(token)).slice(0, -3),
      'nonsense',
      'x'.repeat(9000),
    ]
    for (const proof of proofs) expect((await ask(proof)).status).toBe(401)
  })

  test('a bound token is refused without a proof, and with two', async () => {
    const { holder, token, ask } = await bound()
    expect((await ask(undefined)).status).toBe(401)
    expect((await ask([await holder.proof(token), await holder.proof(token)])).status).toBe(401)
    expect((await ask(`${await holder.proof(token)}, ${await holder.proof(token)}`)).status).toBe(401)
  })

  test('a bound token is refused with a proof that was used before, here or at another replica', async () => {
    const replays = memoryReplays(100, fakeClock())
    const issuer = await startIssuer()
    const holder = await keyHolder()
    const auth = issuer.protect({ dpop: { replays } })
    const [first, second] = [
      await serve(testServer(), { auth }),
      await serve(testServer(), { auth: issuer.protect({ dpop: { replays } }) }),
    ]
    const token = await issuer.token({ cnf: { jkt: holder.jkt } })
    const headers = { authorization: `DPoP ${token}`, dpop: await holder.proof(token) }
    expect((await askModern(first.url, callTool('hi'), headers)).status).toBe(200)
    for (const { url } of [first, second]) expect((await askModern(url, callTool('hi'), headers)).status).toBe(401)
  })

  test('the memory of used proofs is bounded, and expired proofs are forgotten', async () => {
    const clock = fakeClock()
    const { holder, token, ask } = await bound({ replays: memoryReplays(2, clock) }, { clock })
    const used = await holder.proof(token)
    expect((await ask(used)).status).toBe(200)
    expect((await ask(await holder.proof(token))).status).toBe(200)
    const full = await ask(await holder.proof(token))
    expect(full.status).toBe(503)
    expect(full.text).toContain('More than 2 DPoP proofs are remembered')
    expect((await ask(used)).status).toBe(401)
    await clock.advance(120_000)
    expect((await ask(await holder.proof(token))).status).toBe(200)
  })

  test('a bound token can be required to have our nonce in its proof', async () => {
    const keys = memoryKeyRing()
    const { holder, token, ask } = await bound({ nonces: keys })
    const first = await ask(await holder.proof(token))
    expect(first.status).toBe(401)
    expect(challengeOf(first)).toContain('error="use_dpop_nonce"')
    const nonce = String(first.headers['dpop-nonce'])
    expect((await ask(await holder.proof(token, { nonce }))).status).toBe(200)
    for (const bad of [`${nonce}x`, nonce.replace(/\.[^.]*$/, '.AAAA'), 'k1.0.AAAA', 'a.b', 7])
      expect(challengeOf(await ask(await holder.proof(token, { nonce: bad })))).toContain('use_dpop_nonce')
    const nonceAgedBy = async (ms: number) => {
      const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - ms)
      return sealedNonces(keys)
        .make()
        .finally(() => now.mockRestore())
    }
    expect((await ask(await holder.proof(token, { nonce: await nonceAgedBy(NONCE_MS - 60_000) }))).status).toBe(200)
    expect((await ask(await holder.proof(token, { nonce: await nonceAgedBy(NONCE_MS) }))).status).toBe(401)
  })

  test('bound tokens can be the only accepted kind, or not accepted at all', async () => {
    proves('R-AUTHX-026')
    const required = await bound({ required: true })
    const plain = await required.issuer.token()
    const answer = await required.ask(undefined, `Bearer ${plain}`)
    expect(answer.status).toBe(401)
    expect(challengeOf(answer)).toMatch(/^DPoP algs=/)
    expect((await required.ask(await required.holder.proof(required.token))).status).toBe(200)
    const never = await bound(false)
    expect((await never.ask(await never.holder.proof(never.token))).status).toBe(401)
    expect(challengeOf(await http(never.url, { body: {} }))).not.toContain('DPoP')
    expect(challengeOf(await http((await bound()).url, { body: {} }))).toMatch(/^Bearer .*, DPoP algs="/)
  })
})
