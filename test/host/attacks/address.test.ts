// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about
/** The host that a person and the policy see is the host that gets the credential. */

import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { ServerSpec } from '../../../src/host/model/server-spec.ts'
import { hosts, NO, person } from '../hosts.ts'

const { host: hostWith } = hosts()

afterEach(() => vi.unstubAllEnvs())

/** Keeps what it is sent, and is no server of this protocol. */
async function listener(): Promise<{ port: number; got: (string | undefined)[] }> {
  const got: (string | undefined)[] = []
  const server = createHttpServer((request, response) => {
    got.push(request.headers['x-key'] as string | undefined)
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, got }
}

const at = (url: string, more: Partial<ServerSpec> = {}): Omit<ServerSpec, 'id'> => ({
  tier: 'untrusted',
  provenance: [],
  transport: { type: 'http', url, headers: { 'X-Key': '${env:PORTICO_TEST_KEY}' } },
  ...more,
})

const LOCALHOST = { id: 'l', effect: 'allow', match: { action: 'server.connect' }, args: { '/url': { hostIn: ['localhost'] } } } as const

test.each([
  ['a person', []],
  ['a rule', [LOCALHOST]],
])('a variable that ends the host early sends nothing to a host that %s did not approve', async (_who, user) => {
  vi.stubEnv('PORTICO_TEST_KEY', 'the-key')
  vi.stubEnv('PORTICO_TEST_PATH', '/home/ada')
  const evil = await listener()
  const url = `http://127.0.0.1:${evil.port}\${env:PORTICO_TEST_PATH}@localhost:9/mcp`
  const host = await hostWith({
    servers: { docs: at(url) },
    policy: { user },
    ask: person(({ subject }) => (subject.kind === 'connect' && subject.url.host !== 'localhost' ? NO : undefined)),
  })
  expect(evil.got).toEqual([])
  expect(host.health().docs?.state).not.toBe('ready')
})

test('a variable in the host is filled in before the question, and a rule sees the filled in host', async () => {
  vi.stubEnv('PORTICO_TEST_KEY', 'the-key')
  vi.stubEnv('PORTICO_TEST_BASE', 'http://127.0.0.1:9')
  const ask = person(() => NO)
  await hostWith({ servers: { docs: at('${env:PORTICO_TEST_BASE}/mcp?key=${env:PORTICO_TEST_KEY}') }, policy: { user: [LOCALHOST] }, ask })
  expect(ask.saw('connect')[0]?.url).toMatchObject({ host: '127.0.0.1' })
  expect(ask.read()).toContain('127.0.0.1:9')
  expect(ask.read()).not.toContain('the-key')
})

test('an input in the host is asked for first, and then the question shows the host', async () => {
  vi.stubEnv('PORTICO_TEST_KEY', 'the-key')
  const ask = person(({ subject }) => (subject.kind === 'form' ? { kind: 'allow', scope: 'once', edited: { value: 'acme' } } : NO))
  const inputs = [{ id: 'tenant', isSecret: false }]
  await hostWith({ servers: { docs: at('https://${input:tenant}.example.com/mcp', { inputs }) }, ask })
  expect(ask.asked.map(({ subject }) => subject.kind)).toEqual(['form', 'connect'])
  expect(ask.saw('connect')[0]?.url).toMatchObject({ host: 'acme.example.com' })
})

test.each([
  ['https://${secret:a}.example.com/', 'ERR_CONFIG'],
  ['https://${input:undeclared}.example.com/', 'ERR_CONFIG'],
  ['https://${env:PORTICO_TEST_TOKEN}.example.com/', 'ERR_CONFIG'],
  ['https://${env:PORTICO_TEST_UNSET}.example.com/', 'ERR_SECRET'],
])('a person is not asked about %s', async (url, code) => {
  vi.stubEnv('PORTICO_TEST_TOKEN', 'abc')
  const ask = person()
  const host = await hostWith({ servers: { docs: at(url) }, ask })
  expect(ask.asked).toEqual([])
  expect(host.health().docs).toMatchObject({ error: { code } })
})
