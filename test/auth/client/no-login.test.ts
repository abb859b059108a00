import { afterEach, describe, expect, test } from 'vitest'
import { discoverAuthorization, oauth } from '../../../src/auth/client/index.ts'
import { type ApiKeysOptions, apiKeys } from '../../../src/auth/index.ts'
import { listen } from '../../../src/http/index.ts'
import { connect } from '../../../src/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { startRealm } from './realm.ts'
import { failureOf, open } from './support.ts'

const KEY = 'a-key-of-16-characters'
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function keyServer(header?: string, key: NonNullable<ApiKeysOptions['keys']>[string] = KEY): Promise<string> {
  const server = createServer({ name: 'keys', version: '1.0.0' })
  server.tool('write', { scopes: ['write'] }, () => 'written')
  const auth = apiKeys({ keys: { ci: key }, ...(header !== undefined && { header }) })
  const { url, close } = await listen(server, { port: 0, auth, handleSignals: false })
  closing.push(close)
  return url
}

const noBrowser = (): never => {
  throw new Error('A login was tried')
}

describe('a server with API keys has no login', () => {
  test.each([
    [undefined, 'authorization', `An API key is required: Authorization: Bearer <key>"`, `{ 'authorization': 'Bearer KEY' }`],
    ['x-api-key', 'x-api-key', 'An API key is required in the header x-api-key"', `{ 'x-api-key': 'KEY' }`],
  ])('a client without a key gets the words of the server and the option that sends one: %s', async (given, header, words, option) => {
    const url = await keyServer(given)
    for (const auth of [undefined, oauth({ openBrowser: noBrowser }), oauth({ openBrowser: noBrowser, allowLegacy: false })]) {
      const fault = await failureOf(connect(url, auth ? { auth } : {}))
      expect(fault).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'refused', status: 401, header } })
      expect(String(fault)).toContain(words)
      expect(String(fault)).toContain(`http: { headers: ${option} }`)
    }
  })

  test.each([
    ['wrong', 'another-key-of-16-characters'],
    ['expired', { key: KEY, expiresAt: new Date(0) }],
  ])('a client with a key that is %s hears that the server did not accept it', async (_what, key) => {
    const fault = await failureOf(connect(await keyServer(undefined, key), { http: { headers: { authorization: `Bearer ${KEY}` } } }))
    expect(fault).toMatchObject({ code: 'ERR_AUTH', data: { isKeyRefused: true } })
    expect(String(fault)).toMatch(/It did not accept the key in the header authorization$/)
  })

  test('a key without the right scope gets the words of the server, too', async () => {
    const url = await keyServer()
    const http = { headers: { authorization: `Bearer ${KEY}` } }
    const client = await connect(url, { http, auth: oauth({ openBrowser: noBrowser }) })
    const fault = await failureOf(client.call('write'))
    expect(fault).toMatchObject({ code: 'ERR_HTTP', data: { status: 403 } })
    expect(String(fault)).toContain('lacks a required scope: write')
    await client.close()
  })

  test('a login that the program asks for says that there is none', async () => {
    const warnings: string[] = []
    const auth = oauth({ openBrowser: noBrowser, onWarning: (text) => warnings.push(text) })
    const url = await keyServer()
    expect(await failureOf(auth.login(url))).toMatchObject({ code: 'ERR_AUTH', data: { reason: 'unannounced' } })
    expect(await failureOf(discoverAuthorization(new URL(url)))).toMatchObject({ data: { reason: 'unannounced' } })
    await failureOf(connect(url, { auth }))
    expect(warnings).toEqual([expect.stringContaining('names no authorization server')])
  })

  test('another scheme than Bearer is never taken for the oldest kind of login', async () => {
    const url = await keyServer('x-api-key')
    const warnings: string[] = []
    await failureOf(connect(url, { auth: oauth({ openBrowser: noBrowser, onWarning: (text) => warnings.push(text) }) }))
    expect(warnings).toHaveLength(1)
    const challenge = 'ApiKey header="x-api-key", realm="mcp"'
    expect(await failureOf(discoverAuthorization(new URL(url), { challenge }))).toMatchObject({ data: { reason: 'unannounced' } })
  })
})

test.each([
  [400, { error: 'invalid_redirect_uri' }, 'registration'],
  [503, undefined, 'registration'],
  [400, undefined, 'refused'],
  [401, { error: 'unauthorized' }, 'refused'],
])('a guessed registration endpoint that answers %i %j leads to the reason in the last column: %s', async (status, json, reason) => {
  const realm = await startRealm()
  realm.challenge = 'Bearer'
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server'])
    realm.answers.set(path, () => ({ status: 404 }))
  realm.answers.set('/register', () => ({ status, ...(json && { json }) }))
  expect(await failureOf(open(realm.url, oauth({ redirect: realm.redirect })))).toMatchObject({ data: { reason } })
  expect(realm.at('/authorize')).toEqual([])
})
