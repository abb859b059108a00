/** Replicas of a server for 2026-07-28 clients only: they share keys and the bus of a store, and `httpHandler` gets no store. */

import { createServer as createHttpServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { httpHandler } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { redis } from '../../src/redis/index.ts'
import { type Bus, createServer, keyRing, type Server } from '../../src/server/index.ts'
import { portOf } from '../support/http-requests.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const redisServer = redisOfFile([])
const keys = keyRing('only-for-this-test-0123456789abcdef')

test('with the bus and the same keys, changes, questions and pages work at any replica', async () => {
  const { url } = await redisServer()
  const replicas = ['a', 'b'].map((name) => {
    const store = redis(url, { prefix: 'bus-alone:' })
    const server = createServer({ name: 'reports', version: '1', keys, bus: store.bus, pageSize: 1 })
    server.tool('greet', {}, async (_args, ctx) => {
      const { who } = await ctx.elicit('who', 'Your name?', z.object({ who: z.string() }))
      return `${who} at ${name}`
    })
    server.tool('other', {}, () => 'x')
    const handler = httpHandler(server, { sessions: false })
    onTestFinished(async () => {
      await handler.close()
      await store.close()
    })
    return { server, handler, store }
  })
  // A balancer that takes turns.
  let turn = 0
  const balancer = createHttpServer((request, response) => replicas[turn++ % 2]?.handler.node(request, response))
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    balancer.closeAllConnections()
    balancer.close()
  })
  const client = await connect(`http://127.0.0.1:${portOf(balancer)}/mcp`, {
    answer: { elicit: () => ({ action: 'accept', content: { who: 'Ada' } }) },
  })
  onTestFinished(() => client.close())

  // The question and its answer reach different replicas, each time the other way round.
  const said: unknown[] = []
  for (const _ of [1, 2, 3]) {
    said.push((await client.call('greet')).content[0])
    turn++
  }
  expect(new Set(said.map((content) => JSON.stringify(content)))).toEqual(
    new Set(['a', 'b'].map((name) => JSON.stringify({ type: 'text', text: `Ada at ${name}` }))),
  )

  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  expect(names).toEqual(['greet', 'other'])

  let changes = 0
  await client.onChange('tools', () => void changes++)
  // The client listens at one replica, and each of them hears of the changes of both.
  await Promise.all(replicas.map(({ store }) => store.replica.join()))
  for (const [i, { server }] of replicas.entries()) {
    server.tool(`new-${i}`, {}, () => 'x')
    await until(() => changes > i)
  }
})

const OTHER_KEYS = keyRing('another-secret-for-this-test-0123456789')

/** What the inbox of another replica contains after a change, with the bus of a store that has no keys. */
async function inboxAfterChange(prefix: string, use: (bus: Bus) => Server): Promise<string> {
  const { url, cli } = await redisServer()
  const [own, other] = [redis(url, { prefix, leaseMs: 60_000 }), redis(url, { prefix, leaseMs: 60_000 })]
  onTestFinished(async () => void (await Promise.all([own.close(), other.close()])))
  await other.replica.join()
  use(own.bus).resourceChanged('note://top-secret')
  const inbox = `${prefix}{replica:${other.replica.id}}:inbox`
  await until(async () => (await cli('XLEN', inbox)) === '1')
  return cli('--no-raw', 'DUMP', inbox)
}

test('what a server says over the bus alone is sealed with its keys', async () => {
  const info = { name: 'reports', version: '1' }
  expect(await inboxAfterChange('author:', (bus) => createServer({ ...info, keys, bus }))).not.toContain('top-secret')
  const setting = (areShared: boolean) => (bus: Bus) => {
    const server = createServer({ ...info, bus })
    server.useKeys?.(OTHER_KEYS, areShared)
    return server
  }
  expect(await inboxAfterChange('setting:', setting(true))).not.toContain('top-secret')
  // The workers of another machine have other keys.
  expect(await inboxAfterChange('workers:', setting(false))).toContain('top-secret')
})

test('a server with keys does not hear notices that somebody has planted in plain text', async () => {
  const { url } = await redisServer()
  const prefix = 'planted-bus:'
  const [own, plain] = [redis(url, { prefix, leaseMs: 60_000 }), redis(url, { prefix, leaseMs: 60_000 })]
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(async () => {
    await Promise.all([own.close(), plain.close()])
    log.mockRestore()
  })
  createServer({ name: 'reports', version: '1', keys, bus: own.bus })
  const heard: unknown[] = []
  own.replica.listen(({ kind }) => heard.push(kind))
  await own.replica.join()
  await plain.replica.send(own.replica.id, JSON.stringify({ change: { kind: 'tools' } }))
  await until(() => heard.length > 0)
  expect(heard).toEqual(['missed'])
})
