/** A store that refuses a command, and values that this replica cannot open for now: neither means that they are lost. */

import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { callTool, openSession, testServer, until } from '../../../support/http-service.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'

const REFUSED = new McpError('ERR_STORE', 'Redis refused a command: NOAUTH Authentication required.')

test('a command that the store refuses leaves running calls alone, and is tried again', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = storesInMemory(1)
  const [store] = stores as [(typeof stores)[0]]
  Object.defineProperty(store.replica, 'leaseMs', { value: 200 })
  const { answers } = store.streams
  const looked = new Map<string, number>()
  let isRefusing = true
  store.streams.answers = async (sid, stream, epoch) => {
    looked.set(stream, (looked.get(stream) ?? 0) + 1)
    if (isRefusing) throw REFUSED
    return answers(sid, stream, epoch)
  }
  const { urls } = await serveReplicas(
    () => {
      const server = testServer()
      server.tool('name', {}, async (_args, ctx) => {
        const { name } = await ctx.elicit('name', 'Your name?', z.object({ name: z.string() }))
        return `Hello ${name}`
      })
      return server
    },
    { count: 1, stores },
  )
  const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { elicitation: {} } })
  const streams = await Promise.all([1, 2].map((id) => session.askStream({ ...callTool('name'), id })))
  const questions = await Promise.all(streams.map((stream) => stream.message()))
  // Each call is looked at, again and again.
  await until(() => looked.size === 2 && [...looked.values()].every((count) => count > 2))
  isRefusing = false
  for (const { id } of questions) await session.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } })
  for (const [i, stream] of streams.entries())
    expect(await stream.messages()).toMatchObject([{ id: i + 1, result: { content: [{ text: 'Hello Ada' }] } }])
  expect(errors.mock.calls.flat().join()).toContain('NOAUTH')
  errors.mockRestore()
})

test('a store that refuses some commands has one line in the log, although it answers others', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [store] = storesInMemory(1) as [SharedStore]
  Object.defineProperty(store.replica, 'leaseMs', { value: 200 })
  let looks = 0
  const { answers } = store.streams
  Object.assign(store.streams, {
    append: () => Promise.reject(new McpError('ERR_STORE_DOWN', 'OOM')),
    answers: (...args: Parameters<typeof answers>) => {
      looks++
      return answers(...args)
    },
  })
  store.health = () => 'OOM'
  const { urls } = await serveReplicas(
    () => {
      const server = testServer()
      server.tool('wait', {}, async (_args, ctx) => {
        await ctx.progress(1)
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      })
      return server
    },
    { count: 1, stores: [store] },
  )
  const session = await openSession(urls[0] as string, '2025-11-25')
  for (const id of [1, 2, 3]) {
    const before = looks
    const stream = await session.askStream({ ...callTool('wait', {}, { _meta: { progressToken: id } }), id })
    expect((await stream.messages()).at(-1)).toMatchObject({ error: { data: { reason: 'store_down' } } })
    expect(looks).toBeGreaterThan(before)
  }
  expect(errors.mock.calls.flat().filter((line) => String(line).includes('OOM'))).toHaveLength(1)
  errors.mockRestore()
})

test('a client that reads a damaged stream is disconnected, and gets status 503 when it comes back', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [store] = storesInMemory(1) as [SharedStore]
  const { urls, servers } = await serveReplicas(() => testServer(), { count: 1, stores: [store] })
  const session = await openSession(urls[0] as string, '2025-11-25')
  const stream = await session.listen()
  await stream.next()
  const refuse = async (): Promise<never> => {
    throw REFUSED
  }
  Object.assign(store.streams, { read: refuse, attach: refuse })
  servers[0]?.tool('new', {}, () => 'new')
  expect(await stream.ended).toBe('end')
  expect(stream.text).toContain('retry: 1000')
  expect((await session.listen(stream.events[0]?.id)).status).toBe(503)
  errors.mockRestore()
})

test('a request whose command the store refuses gets status 503, and the log says why', async () => {
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = storesInMemory(1)
  const { urls } = await serveReplicas(() => testServer(), { count: 1, stores })
  const session = await openSession(urls[0] as string, '2025-11-25')
  ;(stores[0] as (typeof stores)[0]).sessions.enter = async () => {
    throw REFUSED
  }
  const { status, headers, text } = await session.ask(callTool('hi'))
  expect([status, headers['retry-after']]).toEqual([503, '1'])
  expect(text).toContain('Its log says why')
  expect(errors.mock.calls.flat().join()).toContain('NOAUTH')
  errors.mockRestore()
})
