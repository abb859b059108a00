/** Calls whose replica ends before the answer: run again elsewhere, or answered with an error. */

import { describe, expect, test, vi } from 'vitest'
import type { Incoming } from '../../../../src/jsonrpc/message.ts'
import type { ChannelOptions, Service } from '../../../../src/protocol/interfaces/service.ts'
import { type Server, text } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import {
  callTool,
  gate,
  type HttpSession,
  openSession,
  STREAMABLE,
  sessionAt,
  testServer,
  until,
  WATCHED,
} from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas as serveWith, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(server)],
]

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)

/** A tool with two steps and a question between them. `did` gets each step with its replica. */
function orderTool(did: string[], isRestartable = true): (replica: number) => Server {
  return (replica) => {
    const own = testServer()
    own.tool('order', { restartable: isRestartable }, async (_args, ctx) => {
      const first = await ctx.once('first', () => did.push(`first at ${replica}`))
      await ctx.progress(1)
      const { content } = await ctx.sample('name', { messages: [{ role: 'user', content: text('A name') }], maxTokens: 9 })
      const second = await ctx.once('second', () => did.push(`second at ${replica}`))
      return `${JSON.stringify(content)} ${first} ${second} ${ctx.callId}`
    })
    return own
  }
}

const ORDER = { ...callTool('order', {}, WATCHED), id: 7 }
const answerTo = (id: unknown) => ({ jsonrpc: '2.0', id, result: { role: 'assistant', content: text('Ada'), model: 'm' } })

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  const serveReplicas = async (make: (replica: number) => Server): Promise<Replicas> => serveWith(make, { stores: await storesOf(3) })

  describe.each(STREAMABLE)('a restartable call of %s', (version) => {
    test('is run again elsewhere with its steps, and with the answer to the question of the replica that died', async () => {
      const did: string[] = []
      const { urls, stores } = await serveReplicas(orderTool(did))
      const session = await openSession(urls[0] as string, version, { capabilities: { sampling: {} } })
      const stream = await session.askStream(ORDER)
      expect(await stream.message()).toMatchObject({ params: { progress: 1 } })
      const question = await stream.message()
      const lastEventId = stream.events.filter(({ data }) => data).at(-1)?.id
      await stores[0]?.replica.leave()
      stream.destroy()
      const resumed = await at(urls[1], session).listen(lastEventId)
      expect((await at(urls[2], session).post(answerTo(question.id))).status).toBe(202)
      const rest = await resumed.messages()
      expect(rest.filter(({ id }) => id !== undefined)).toMatchObject([
        { id: 7, result: { content: [{ text: expect.stringMatching(/Ada.* 1 2 .{22}$/) }] } },
      ])
      expect(did).toEqual(['first at 0', expect.stringMatching(/^second at \d$/)])
    })
  })

  test('a restartable call is handed over when the time to drain is over, and its id can be cancelled there', async () => {
    const aborted = gate()
    let runs = 0
    const { urls, handlers } = await serveReplicas(() => {
      const own = testServer()
      own.tool('wait', { restartable: true }, async (_args, ctx) => {
        runs++
        await ctx.progress(runs)
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        if (runs === 2) aborted.open()
      })
      return own
    })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream({ ...callTool('wait', {}, WATCHED), id: 'w' })
    await stream.message()
    await handlers[0]?.drain(0)
    await handlers[0]?.close()
    expect(await stream.ended).toBe('end')
    await until(() => runs === 2)
    const resumed = await at(urls[1], session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
    expect(await resumed.message()).toMatchObject({ params: { progress: 2 } })
    await at(urls[2], session).post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } })
    await aborted.opened
    expect(await resumed.messages()).toEqual([])
  })

  test('a client of 2025-11-25 can come back for a restartable call that has said nothing yet', async () => {
    const begun = gate()
    const { urls, handlers } = await serveReplicas((replica) => {
      const own = testServer()
      own.tool('quiet', { restartable: true }, async (_args, ctx) => {
        if (replica > 0) return 'from another replica'
        begun.open()
        return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      })
      return own
    })
    const session = await openSession(urls[0] as string, '2025-11-25')
    const stream = await session.askStream({ ...callTool('quiet'), id: 1 })
    await begun.opened
    const lastEventId = (await stream.next())?.id
    await handlers[0]?.close()
    const resumed = await at(urls[1], session).listen(lastEventId)
    expect(await resumed.messages()).toMatchObject([{ id: 1, result: { content: [{ text: 'from another replica' }] } }])
  })

  test('a restartable call that its client cancels while no replica runs it has no answer', async () => {
    const { urls, stores } = await serveReplicas(orderTool([]))
    const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { sampling: {} } })
    const stream = await session.askStream(ORDER)
    await stream.message()
    await stream.message()
    await stores[0]?.replica.leave()
    await at(urls[1], session).post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    stream.destroy()
    const resumed = await at(urls[2], session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
    expect((await resumed.messages()).filter(({ id }) => id !== undefined)).toEqual([])
  })

  test.each(['opens a channel', 'receives it'])(
    'a fault of the server when it runs a call again and %s is the end of the call',
    async (step) => {
      const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
      const { urls, handlers } = await serveReplicas((replica) => {
        const own = orderTool([])(replica)
        if (replica === 0) return own
        const { open } = own as Service
        return Object.assign(own, {
          open: (options: ChannelOptions) => {
            if (step === 'opens a channel') throw new Error('A bug')
            return Object.assign(open.call(own, options), {
              receive: ({ kind }: Incoming) => {
                if (kind === 'request') throw new Error('A bug')
              },
            })
          },
        })
      })
      const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { sampling: {} } })
      const stream = await session.askStream(ORDER)
      await stream.message()
      await handlers[0]?.drain(0)
      await handlers[0]?.close()
      const resumed = await at(urls[1], session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
      expect((await resumed.messages()).at(-1)).toMatchObject({ id: 7, error: { data: { reason: 'replica_lost', retryable: true } } })
      await until(() => handlers.slice(1).every(({ counts }) => counts.inFlight === 0 && counts.bodyBytes === 0))
      expect(errors.mock.calls.flat().join()).toContain('A bug')
      errors.mockRestore()
    },
  )

  test('a handler that ends its replica each time is run three times', async () => {
    let runs = 0
    const ending = gate<SharedStore[]>()
    const { urls, stores } = await serveReplicas((replica) => {
      const own = testServer()
      own.tool('deadly', { restartable: true }, async (_args, ctx) => {
        await ctx.progress(++runs)
        await (await ending.opened)[replica]?.replica.leave()
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      })
      return own
    })
    const session = await openSession(urls[0] as string, '2025-06-18')
    const stream = await session.askStream({ ...callTool('deadly', {}, WATCHED), id: 1 })
    await stream.message()
    stream.destroy()
    ending.open(stores)
    await until(() => runs === 3)
    const resumed = await at(urls[1], session).listen(stream.events.filter(({ data }) => data).at(-1)?.id)
    const rest = await resumed.messages()
    expect(rest.at(-1)).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost', retryable: false } } })
    expect(runs).toBe(3)
  })

  test('any other call that is not over when the time to drain ends gets the typed error at once', async () => {
    const did: string[] = []
    const { urls, handlers } = await serveReplicas(orderTool(did, false))
    const session = await openSession(urls[0] as string, '2025-11-25', { capabilities: { sampling: {} } })
    const stream = await session.askStream(ORDER)
    expect([await stream.message(), await stream.message()]).toMatchObject([
      { params: { progress: 1 } },
      { method: 'sampling/createMessage' },
    ])
    await handlers[0]?.drain(0)
    await handlers[0]?.close()
    expect(await stream.messages()).toMatchObject([{ id: 7, error: { data: { reason: 'replica_lost', retryable: true } } }])
    expect(did).toEqual(['first at 0'])
  })
})
