import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Settings } from '../../../src/cli/serving/read-settings.ts'
import { serveOptions } from '../../../src/cli/serving/serve-options.ts'
import { API_KEYS } from '../../../src/cli/serving/setting-kinds.ts'
import type { Output } from '../../../src/cli/shared-terminal.ts'
import type { RequestHead } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'

const serving = (given: Readonly<Record<string, unknown>>) => {
  const values: Readonly<Record<string, unknown>> = { workers: 0, path: '/mcp', logFormat: 'none', ...given }
  const settings = { get: (name: string) => values[name], sourceOf: (name: string) => `from ${name}` } as unknown as Settings
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

test('API keys with a name twice, or together with access tokens, are refused', async () => {
  await expect(serving({ apiKeys: ['a=one-key-of-16-characters', 'a=two-key-of-16-characters'] })).rejects.toThrow(
    'the name "a" is there twice',
  )
  await expect(serving({ apiKeys: ['a=x'], authScopes: ['read'] })).rejects.toThrow(
    'from apiKeys: apiKeys and authScopes cannot be used together',
  )
})
