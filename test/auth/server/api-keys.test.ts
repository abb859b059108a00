/** A server that is protected with API keys. */

import { createHash } from 'node:crypto'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ApiKeysOptions, apiKeys } from '../../../src/auth/index.ts'
import { listen } from '../../../src/http/index.ts'
import { connect } from '../../../src/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { REVISIONS } from '../../support/judged-pair.ts'

const KEY = 'key-of-the-robot-0001'
const OTHER = 'key-of-another-robot-2'
const digest = (key: string): string => createHash('sha256').update(key).digest('hex')

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function served(options: ApiKeysOptions): Promise<string> {
  const server = createServer({ name: 'notes', version: '1' })
  server.tool('who', {}, (_args, { caller }) => `${caller.auth?.subject}`)
  server.tool('write', { scopes: ['notes:write'] }, () => 'written')
  const { url, close } = await listen(server, { auth: apiKeys(options), port: 0 })
  open.push(close)
  return url
}

const post = (url: string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: '{}',
  })

describe.each(REVISIONS)('API keys in %s', (revision) => {
  test('the caller is the holder of the key, with its scopes', async () => {
    const url = await served({ keys: { robot: { key: KEY, scopes: ['notes:write'] }, reader: OTHER } })
    const as = (key: string) => connect(url, { revisions: [revision], http: { headers: { authorization: `Bearer ${key}` } } })
    const robot = await as(KEY)
    expect((await robot.call('who')).content).toMatchObject([{ text: 'robot' }])
    expect((await robot.tools().all()).map(({ name }) => name)).toEqual(['who', 'write'])
    const reader = await as(OTHER)
    expect((await reader.tools().all()).map(({ name }) => name)).toEqual(['who'])
    await robot.close()
    await reader.close()
  })
})

test('a request without a key, with a wrong one or with several is refused, and says how to send one', async () => {
  const url = await served({ keys: { robot: KEY } })
  const none = await post(url, {})
  expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="mcp"'])
  expect(await none.text()).toContain('Authorization: Bearer <key>')
  const wrong = await post(url, { authorization: `Bearer ${KEY}x` })
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  expect(await wrong.text()).not.toContain(KEY)
  expect((await post(`${url}?access_token=${KEY}`, {})).status).toBe(400)
  expect((await post(url, { authorization: `Bearer ${'a'.repeat(2000)}` })).status).toBe(401)
})

test.each(['p@ss:word!with#signs', 'correct horse battery staple', '"quoted",=and;more=='])(
  'the key %s works as a bearer token',
  async (key) => {
    const url = await served({ keys: { robot: key } })
    const robot = await connect(url, { http: { headers: { authorization: `Bearer ${key}` } } })
    expect((await robot.call('who')).content).toMatchObject([{ text: 'robot' }])
    await robot.close()
  },
)

test('the key can be a digest, come in another header, or be found by a function', async () => {
  const url = await served({
    keys: { robot: `sha256:${digest(KEY).toUpperCase()}` },
    find: async (each) => (each === digest(OTHER) ? { name: 'found', scopes: [] } : undefined),
    header: 'X-API-Key',
  })
  for (const [key, name] of [
    [KEY, 'robot'],
    [OTHER, 'found'],
  ] as const) {
    const client = await connect(url, { http: { headers: { 'x-api-key': key } } })
    expect((await client.call('who')).content).toMatchObject([{ text: name }])
    await client.close()
  }
  const refused = await post(url, { authorization: `Bearer ${KEY}` })
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'ApiKey header="x-api-key", realm="mcp"'])
})

test.each(['authorization', 'x-api-key'])('guesses of keys in the header %s are counted by address', async (header) => {
  const url = await served({ keys: { robot: KEY }, ...(header !== 'authorization' && { header }) })
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await post(url, { [header]: `Bearer a-guess-of-the-key-${i}` })).status)
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  expect((await post(url, {})).status).toBe(401)
})

test('your own authentication can name the header with the refused credentials', async () => {
  const server = createServer({ name: 'notes', version: '1' })
  const { url, close } = await listen(server, {
    authenticate: () => ({ status: 401, message: 'No', credentialsHeader: 'X-Token' }),
    limits: { failedLogins: { perSecond: 0.01, burst: 1 } },
    port: 0,
  })
  open.push(close)
  const statuses: number[] = []
  for (const token of ['a', 'b']) statuses.push((await post(url, { 'x-token': token })).status)
  expect(statuses).toEqual([401, 429])
})

test('an address with too many wrong keys is refused before find runs, and keys that worked go on', async () => {
  const good = { name: 'robot' }
  const digests: string[] = []
  const find = async (asked: string) => {
    digests.push(asked)
    return asked === digest(KEY) ? good : undefined
  }
  const server = createServer({ name: 'notes', version: '1' })
  const { url, close } = await listen(server, { auth: apiKeys({ find }), limits: { failedLogins: { perSecond: 0.01, burst: 2 } }, port: 0 })
  open.push(close)
  const statusOf = async (key: string): Promise<number> => (await post(url, { authorization: `Bearer ${key}` })).status
  expect(await statusOf(KEY)).not.toBe(401)
  expect([await statusOf('wrong-1'), await statusOf('wrong-2'), await statusOf('wrong-3')]).toEqual([401, 401, 429])
  digests.length = 0
  expect([await statusOf('wrong-4'), await statusOf('wrong-5'), await statusOf('wrong-3')]).toEqual([429, 429, 429])
  expect(digests).toEqual([])
  expect(await statusOf(KEY)).not.toBe(429)
  expect(digests).toEqual([digest(KEY)])
  // A request without a key learns how to log in.
  expect((await post(url, {})).status).toBe(401)
})

test('a key stops working when it expires', async () => {
  const now = vi.spyOn(Date, 'now')
  onTestFinished(() => now.mockRestore())
  const expiresAt = new Date('2030-01-02T03:04:05Z')
  const auth = apiKeys({ keys: { robot: { key: KEY, expiresAt } } })
  const head = {
    method: 'POST',
    url: '/mcp',
    header: (name: string) => (name === 'authorization' ? `Bearer ${KEY}` : undefined),
    count: () => 1,
    remoteAddress: undefined,
  }
  now.mockReturnValue(expiresAt.getTime() - 1)
  expect(await auth.authenticate(head)).toMatchObject({ principal: '["api key","robot"]' })
  now.mockReturnValue(expiresAt.getTime())
  expect(await auth.authenticate(head)).toMatchObject({ status: 401, message: 'The API key has expired' })
})

test('a key that has expired opens nothing, and one that expires later works', async () => {
  const day = 86_400_000
  const holderOf = (key: string, days: number) => ({ key, expiresAt: new Date(Date.now() + days * day) })
  const url = await served({ keys: { old: holderOf(`${KEY}-old`, -1), young: holderOf(KEY, 1) }, find: () => undefined })
  const old = await post(url, { authorization: `Bearer ${KEY}-old` })
  expect([old.status, await old.text()]).toEqual([401, expect.stringContaining('The API key has expired')])
  expect((await post(url, { authorization: `Bearer ${KEY}` })).status).not.toBe(401)
})

test.each(['notes:write notes:read', ['notes read'], 7])(
  'a key that find returns with the scopes %j is refused and reported',
  async (odd) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const url = await served({ find: () => ({ name: 'robot', scopes: odd as string[] }) })
    const response = await post(url, { authorization: `Bearer ${KEY}` })
    expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('The API key cannot be used')])
    expect(log).toHaveBeenCalledWith(expect.stringContaining('find returned scopes that are not a list'))
  },
)

test.each([new Date('not a date'), '2030-01-01', 0])('a key that find returns with the expiry %s is refused and reported', async (odd) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const url = await served({ find: () => ({ name: 'robot', expiresAt: odd as Date }) })
  const response = await post(url, { authorization: `Bearer ${KEY}` })
  expect([response.status, await response.text()]).toEqual([401, expect.stringContaining('The API key cannot be used')])
  expect(log).toHaveBeenCalledWith(expect.stringContaining('the key of "robot" was refused: find returned an expiresAt'))
})

test('a key and its own digest are reported, and no key works', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const url = await served({ keys: { robot: KEY, twin: `sha256:${digest(KEY)}` } })
  expect((await post(url, { authorization: `Bearer ${KEY}` })).status).toBe(503)
  expect(log).toHaveBeenCalledWith('portico: no API key works: apiKeys: "robot" and "twin" have the same key')
})

test.each<[string, ApiKeysOptions, string]>([
  ['no keys', {}, 'needs keys or a find function'],
  ['an unset variable', { keys: { robot: '' } }, 'is missing; is its environment variable set?'],
  ['a short key', { keys: { robot: 'short' } }, 'must have 16 to 1024 characters; got 5'],
  ['a digest that is none', { keys: { robot: 'sha256:1234567890' } }, '64 hexadecimal digits'],
  ['a bad scope', { keys: { robot: { key: KEY, scopes: ['a b'] } } }, 'a scope that is not valid: "a b"'],
  ['an expiry that is not a date', { keys: { robot: { key: KEY, expiresAt: '2030' as unknown as Date } } }, 'an expiry that is not a date'],
  ['the same key twice', { keys: { robot: KEY, twin: KEY } }, '"robot" and "twin" have the same key'],
  [
    'the same digest twice',
    { keys: { robot: `sha256:${'a'.repeat(64)}`, twin: `sha256:${'A'.repeat(64)}` } },
    '"robot" and "twin" have the same key',
  ],
  ['a key with a line end', { keys: { robot: `${KEY}\n` } }, 'is there a line end in its environment variable?'],
  ['a key that is not ASCII', { keys: { robot: `${KEY}\u00e9` } }, 'has characters that a header cannot have'],
  ['scopes that are a text', { keys: { robot: { key: KEY, scopes: 'a b' as unknown as string[] } } }, 'has scopes that are not a list'],
  ['a bad header', { keys: { robot: KEY }, header: 'x y' }, 'not the name of a header: "x y"'],
])('%s is an error when the server starts', (_what, options, message) => {
  expect(() => apiKeys(options)).toThrow(message)
})
