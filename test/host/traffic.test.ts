/** What a host tells about its connections: messages, the handshake, restarts; and its search and its policy file. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { notesServer } from '../../src/demo/index.ts'
import { createHost, type HostTraffic } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { script } from './hosts.ts'

const folders = temporaryFolders()

// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a configuration
const KEY = '${secret:key}'

const YES = { session: [allow('all', { action: ['server.*', 'tool.*'], tier: 'trusted' })] }

const LINES = `
const server = createServer({ name: 'hello', version: '1.0.0', instructions: 'Say hello.' })
server.tool('echo', { description: 'Repeats its key' }, () => 'The key is ' + process.env.API_KEY)
await serveStdio(server)
`

test('every message is reported with its server, connection and revision, without secrets', async () => {
  const traffic: HostTraffic[] = []
  const folder = folders()
  const file = script(folders(), LINES)
  const secret = 'a-secret-that-no-one-sees-4711'
  await using host = await createHost({
    folder,
    keychain: false,
    policy: YES,
    servers: {
      hello: {
        transport: { type: 'stdio', command: process.execPath, args: [file], env: { API_KEY: KEY } },
        tier: 'trusted',
        provenance: [{ client: 'portico', scope: 'ours', file: '' }],
        isDisabled: true,
      },
    },
    onTraffic: (each) => traffic.push(each),
  })
  await (await host.secrets()).set('key', secret)
  await host.configure(host.specs().map(({ isDisabled: _, ...spec }) => spec))
  await host.enable('hello')
  await host.call('hello__echo', {}, { as: 'person' })
  const messages = traffic.flatMap((each) => (each.kind === 'message' ? [each] : []))
  expect(messages[0]).toMatchObject({ number: 1, server: 'hello', connection: 1, from: 'host', revision: undefined })
  const called = messages.filter(({ message }) => JSON.stringify(message).includes('tools/call'))
  expect(called).toMatchObject([{ from: 'host', revision: host.connection('hello')?.revision, bytes: expect.any(Number) }])
  expect(JSON.stringify(messages)).toContain('The key is')
  expect(JSON.stringify(messages)).not.toContain(secret)
  const before = host.connection('hello')
  expect(before).toMatchObject({ info: { name: 'hello' }, instructions: 'Say hello.', pid: expect.any(Number) })
  expect(await host.restart('hello')).toMatchObject({ state: 'ready' })
  expect(host.connection('hello')?.pid).not.toBe(before?.pid)
  expect(Math.max(...traffic.map((each) => (each.kind === 'message' ? each.connection : 0)))).toBe(2)
})

test('a search finds all kinds, best first, and notices changes', async () => {
  const service = await notesServer({ folder: folders() })
  await using host = await createHost({
    folder: folders(),
    keychain: false,
    policy: YES,
    servers: { notes: { transport: { type: 'memory', service }, tier: 'trusted', provenance: [] } },
  })
  await host.settled()
  const found = host.find('note', { limit: 50 })
  expect(new Set(found.map(({ entry }) => entry.kind))).toEqual(new Set(['tool', 'prompt', 'template']))
  expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).sort((a, b) => b - a))
  expect(host.find('note', { limit: 2 })).toHaveLength(2)
  expect(host.find('xylophone')).toEqual([])
  await host.configure([])
  expect(host.find('note')).toEqual([])
  await service.close()
})

test('the policy file is read, tried out, and written only if it is valid and was not changed meanwhile', async () => {
  const user = join(folders(), 'policy.yaml')
  writeFileSync(user, 'rules: []\n')
  await using host = await createHost({ folder: folders(), keychain: false, policy: { user } })
  const { text, hash } = await host.policy.read()
  expect(text).toBe('rules: []\n')
  const next = 'preset: cautious\nrules: [{ id: x, effect: deny, match: { tool: x } }]\n'
  expect((await host.policy.draft(next)).preset).toBe('cautious')
  expect(host.policy.current().preset).toBe('balanced')
  await expect(host.policy.write('rules: 7')).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  await host.policy.write(next, hash)
  expect(host.policy.current()).toMatchObject({ preset: 'cautious', rules: [{ rule: { id: 'x' } }] })
  await expect(host.policy.write('rules: []', hash)).rejects.toMatchObject({ code: 'ERR_STORE' })
  await host.policy.usePreset('trusting')
  expect(readFileSync(user, 'utf8')).toContain('preset: trusting')
  expect(host.policy.current().preset).toBe('trusting')
})
