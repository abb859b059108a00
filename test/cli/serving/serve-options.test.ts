import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { randomId } from '../../../src/base/bytes.ts'
import type { Settings } from '../../../src/cli/serving/read-settings.ts'
import { serveOptions } from '../../../src/cli/serving/serve-options.ts'
import { API_KEYS } from '../../../src/cli/serving/setting-kinds.ts'
import type { Output } from '../../../src/cli/shared-terminal.ts'
import type { RequestHead } from '../../../src/http/index.ts'
import type { McpError } from '../../../src/protocol/errors.ts'
import { createServer } from '../../../src/server/index.ts'
import { sampleTask } from '../../../src/testing/check-task-store.ts'
import { redisOfFile } from '../../support/redis-server.ts'

const redisServer = redisOfFile()

const serving = (given: Readonly<Record<string, unknown>>, sourceOf = (name: string): string => `from ${name}`) => {
  const values: Readonly<Record<string, unknown>> = { workers: 0, host: '127.0.0.1', path: '/mcp', logFormat: 'none', ...given }
  const settings = { get: (name: string) => values[name], sourceOf } as unknown as Settings
  const stderr = { stream: new PassThrough() } as unknown as Output
  return serveOptions(settings, { service: createServer({ name: 'x', version: '1' }), keys: undefined, stderr })
}

const headOf = (key: string): RequestHead => {
  const headers: Readonly<Record<string, string>> = { authorization: `Bearer ${key}` }
  return { header: (name: string) => headers[name], count: (name: string) => (name in headers ? 1 : 0) } as unknown as RequestHead
}

test('the callers of a file of API keys are accepted, and no others', async () => {
  const apiKeys = API_KEYS.fromText('ci=a-key-of-16-characters=\n\nops = another-key-of-16-characters\n')
  expect([API_KEYS.isValid(apiKeys), API_KEYS.isValid(['no-name']), API_KEYS.isValid([])]).toEqual([true, false, false])
  const { options } = await serving({ apiKeys })
  expect(await options.auth?.authenticate(headOf('a-key-of-16-characters='))).toMatchObject({ auth: { subject: 'ci' } })
  expect(await options.auth?.authenticate(headOf('another-key-of-16-characters'))).toMatchObject({ auth: { subject: 'ops' } })
  expect(await options.auth?.authenticate(headOf('an-unknown-key-of-16-characters'))).toMatchObject({ status: 401 })
})

test('an error about the store has the error of the store as its cause', async () => {
  await expect(serving({ store: 'http://h' })).rejects.toMatchObject({
    message: expect.stringMatching(/^from store: Expected a URL of Redis/),
    cause: expect.objectContaining({ message: expect.stringMatching(/^Expected a URL of Redis/) }),
  })
})

test.each([
  ['storeTaskBytes', 'maxBytes'],
  ['storeTaskBytesPerCaller', 'maxBytesPerCaller'],
])('%s limits the bytes of tasks in the store', async (setting, limit) => {
  const { url } = await redisServer()
  const task = { ...sampleTask('large'), account: 'ann', ttlMs: 60_000, params: { text: 'x'.repeat(2000) } }
  const bytes = { storeTaskBytes: 100_000, storeTaskBytesPerCaller: 100_000 }
  for (const [settings, outcome] of [
    [bytes, 'created'],
    [
      { ...bytes, [setting]: 1000 },
      { reason: 'limit', limit, max: 1000 },
    ],
  ] as const) {
    const { options, close } = await serving({ store: url, storePrefix: `${randomId()}:`, ...settings })
    onTestFinished(close)
    const created = options.store?.tasks?.create(task, { perAccount: 9, total: 9 })
    expect(
      await created?.then(
        () => 'created',
        ({ data }: McpError) => data,
      ),
    ).toEqual(outcome)
  }
})

test('API keys with a name twice, or together with access tokens, are refused', async () => {
  await expect(serving({ apiKeys: ['a=one-key-of-16-characters', 'a=two-key-of-16-characters'] })).rejects.toThrow(
    'the name "a" is there twice',
  )
  await expect(serving({ apiKeys: ['a=x'], authScopes: ['read'] })).rejects.toThrow(
    'from apiKeys and from authScopes cannot be used together',
  )
})

test.each([
  [{ tlsKeyFile: 'x' }, '--tls-key-file', '--tls-key-file needs --tls-cert-file'],
  [{ cardName: 'com.example/x', cardDescription: 'x' }, 'PORTICO_CARD_NAME', 'PORTICO_CARD_NAME needs PORTICO_CARD_URL'],
  [{ authIssuers: ['https://login.example.com'] }, 'serve.yaml:3', 'serve.yaml:3: authIssuers needs authResource'],
  [{ metricsToken: 'secret-of-the-scraper' }, 'serve.yaml:2', 'serve.yaml:2: metricsToken needs metrics: true'],
  [{ metricsToken: 'secret-of-the-scraper' }, '--metrics-token-file (t)', '--metrics-token-file (t) needs --metrics'],
  [{ host: '0.0.0.0' }, '--host', 'or make callers authenticate (--auth-issuers or --api-keys-file)'],
  [{ host: '0.0.0.0' }, 'PORTICO_HOST', 'set PORTICO_ALLOWED_HOSTS to the host names that clients use'],
])('%j of %s that needs another setting names that as the person would write it', async (given, source, told) => {
  await expect(serving(given, (name) => (name in given ? source : 'default'))).rejects.toThrow(told)
})
