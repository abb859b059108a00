import { expect, test } from 'vitest'
import { Client } from '../../src/client/index.ts'
import { createServer } from '../../src/server/index.ts'
import { connectPair } from '../support/judged-pair.ts'
import { proves } from '../support/proves.ts'
import { envelope, rawChannel } from '../support/raw-channel.ts'
import { cannedServer } from '../support/scripted-server.ts'

const newServer = (options = {}) => {
  const server = createServer({ name: 'extended', version: '1', ...options })
  server.tool('extensions', {}, (_args, ctx) => JSON.stringify(ctx.caller.capabilities.extensions ?? null))
  return server
}

const TASKS = { 'io.modelcontextprotocol/tasks': {} }

test('both sides declare their extensions with settings, and by default none but tasks of the client', async () => {
  proves('R-EXT-001', 'R-EXT-005')
  const extensions = { 'com.example/plain': {}, 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } }
  const able = await connectPair(newServer({ extensions }), { revision: '2026-07-28', extensions })
  expect(able.client.server.capabilities.extensions).toEqual(extensions)
  expect((await able.client.call('extensions')).content).toEqual([{ type: 'text', text: JSON.stringify({ ...TASKS, ...extensions }) }])

  const plain = await connectPair(newServer(), { revision: '2026-07-28' })
  expect(plain.client.server.capabilities).not.toHaveProperty('extensions')
  expect((await plain.client.call('extensions')).content).toEqual([{ type: 'text', text: JSON.stringify(TASKS) }])
  for (const { params } of plain.sent('client'))
    expect(params._meta['io.modelcontextprotocol/clientCapabilities'].extensions).toEqual(TASKS)
})

test('the name of an extension has a prefix, like a metadata key, on both sides', async () => {
  proves('R-EXT-002')
  const refused = 'The name of an extension must look like "com.example/feature"'
  for (const name of ['tasks', '/x', 'com.example/', 'a b/x', '-x/y', 'com..example/x']) {
    expect(() => newServer({ extensions: { [name]: {} } })).toThrow(refused)
    await expect(Client.connect(cannedServer().target, { extensions: { [name]: {} } })).rejects.toThrow(refused)
  }
  for (const name of ['com.example/x', 'io.modelcontextprotocol/ui', 'example/x-1']) {
    newServer({ extensions: { [name]: {} } })
    await Client.connect(cannedServer().target, { extensions: { [name]: {} } })
  }
})

test('if only one side has an extension, the core works and the extension is refused', async () => {
  proves('R-EXT-003')
  const extensions = { 'com.example/x': {} }
  for (const [ofServer, ofClient] of [
    [extensions, undefined],
    [undefined, extensions],
  ]) {
    const { client } = await connectPair(newServer({ extensions: ofServer }), {
      revision: '2026-07-28',
      ...(ofClient ? { extensions: ofClient } : {}),
    })
    expect((await client.tools().all()).map(({ name }) => name)).toEqual(['extensions'])
  }
  const answer = await rawChannel(newServer()).ask('com.example/x/do', { _meta: envelope({ extensions }) })
  expect(answer.error.code).toBe(-32601)
})
