/** A replica that lost its lease and has it again under another name: a stream that was not in the store yet does not begin there. */

import { expect, test, vi } from 'vitest'
import { untilHeard } from '../../../../src/http/server/shared/until-heard.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import { fakeClock } from '../../../../src/testing/index.ts'
import { callTool, gate, openSession, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const server = redisOfFile()

/** As for a process that was stopped for longer than its lease: it joins again as soon as it notices. */
async function loseLease({ replica }: SharedStore): Promise<void> {
  const { id } = replica
  const { scan, cli } = await server()
  for (const key of await scan()) if (key.includes(id) && key.endsWith(':lease')) await cli('DEL', key)
  await until(() => replica.isHeld && replica.id !== id)
}

/** Two replicas. The first one runs a restartable call whose answer becomes a stream after a while. */
async function replicasWithSlowCall(version: string) {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const stores = (await storesInRedis(server)(2)) as [SharedStore, SharedStore]
  const runs = [0, 0]
  const aborted = gate()
  const { urls, handlers } = await serveReplicas(
    (replica) => {
      const own = testServer()
      own.tool('work', { restartable: true }, async (_args, ctx) => {
        runs[replica] = (runs[replica] ?? 0) + 1
        await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
        aborted.open()
      })
      return own
    },
    { count: 2, stores, limits: { streamAfterMs: 50 } },
  )
  const session = await openSession(urls[0] as string, version)
  const { scan, cli } = await server()
  /** The streams of the session that are not over. */
  const openStreams = async (): Promise<string[]> => {
    const keys = (await scan()).filter((key) => key.includes(`${session.id}}:stream:`))
    const over = await Promise.all(keys.map((key) => cli('HGET', key, 'over')))
    return keys.filter((_, at) => over[at] !== '1')
  }
  return { stores, runs, aborted, handlers, session, openStreams }
}

test.each(['2025-03-26', '2025-06-18'])('a slow call of %s whose replica loses its lease opens no stream later', async (version) => {
  const { stores, runs, aborted, handlers, session, openStreams } = await replicasWithSlowCall(version)
  const { streams } = stores[0]
  const open = vi.spyOn(streams, 'open')
  const stream = await session.askStream(callTool('work'))
  await loseLease(stores[0])
  await aborted.opened
  expect(await stream.messages()).toMatchObject([{ error: { data: { reason: 'replica_lost', retryable: true } } }])
  await handlers[0]?.close()
  expect(open).not.toHaveBeenCalled()
  expect(await openStreams()).toEqual([])
  // The other replica has looked for what the first one has left.
  expect(await stores[1].replica.claimDead()).toBeUndefined()
  expect(runs).toEqual([1, 0])
})

test('a stream that is opened while its replica loses its lease is ended', async () => {
  const { stores, runs, aborted, handlers, session, openStreams } = await replicasWithSlowCall('2025-11-25')
  const { streams } = stores[0]
  const { open } = streams
  const [isAsked, isLost] = [gate(), gate()]
  const opened: unknown[] = []
  streams.open = async (...args) => {
    isAsked.open()
    await isLost.opened
    const epoch = await open(...args)
    opened.push(epoch)
    return epoch
  }
  const stream = await session.askStream(callTool('work'))
  await isAsked.opened
  await loseLease(stores[0])
  await aborted.opened
  isLost.open()
  expect(await stream.messages()).toMatchObject([{ error: { data: { reason: 'replica_lost', retryable: true } } }])
  await until(async () => opened.length > 0 && (await openStreams()).length === 0)
  expect(opened).toEqual([expect.any(Number)])
  await handlers[0]?.close()
  expect(await stores[1].replica.claimDead()).toBeUndefined()
  expect(runs).toEqual([1, 0])
})

test.each(['lease ends', 'request is over'])('a command is not sent again if the %s while it waits', async (what) => {
  const clock = fakeClock()
  const state = { isHeld: true, isOver: false }
  const command = vi.fn(() => Promise.reject(new McpError('ERR_STORE_DOWN', 'No reply')))
  const heard = untilHeard({ store: { replica: state } as never, clock }, command, () => state.isOver)
  const failed = expect(heard).rejects.toThrow('No reply')
  await clock.advance(99)
  expect(command).toHaveBeenCalledTimes(1)
  await clock.advance(1)
  expect(command).toHaveBeenCalledTimes(2)
  if (what === 'lease ends') state.isHeld = false
  else state.isOver = true
  await clock.advance(10_000)
  await failed
  expect(command).toHaveBeenCalledTimes(2)
})
