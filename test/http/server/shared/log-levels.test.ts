/** The log level of a shared session: set at one replica, obeyed by all. */

import { expect, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import type { Server } from '../../../../src/server/index.ts'
import { callTool, type HttpSession, openSession, STREAMABLE, sessionAt, testServer } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas } from '../../../support/replicas.ts'

const redisServer = redisOfFile()

function loggingServer(): Server {
  const server = testServer()
  server.tool('say', {}, (_args, ctx) => {
    for (const level of ['debug', 'info', 'warning', 'error'] as const) ctx.log[level](level)
    return 'said'
  })
  return server
}

async function replicas(): Promise<Replicas> {
  const { url } = await redisServer()
  const prefix = `${randomId()}:`
  return serveReplicas(loggingServer, { stores: [0, 1, 2].map(() => redis(url, { prefix, leaseMs: 2000 })) })
}

const at = (url: string | undefined, { id, headers }: HttpSession): HttpSession => sessionAt(url as string, id, headers)
const setLevel = (level: string) => ({ method: 'logging/setLevel', params: { level }, id: 2 })

/** The levels of the messages that a call at this address sends before its answer. */
async function levelsSaid(url: string | undefined, session: HttpSession): Promise<unknown[]> {
  const messages = await (await at(url, session).askStream({ ...callTool('say'), id: 3 })).messages()
  expect(messages.at(-1)).toMatchObject({ id: 3, result: { content: [{ text: 'said' }] } })
  return messages.slice(0, -1).map(({ method, params }) => method === 'notifications/message' && params?.level)
}

test.each(STREAMABLE)('in %s a level that is set at one replica holds at all, and for this session only', async (version) => {
  const { urls } = await replicas()
  const [session, other] = [await openSession(urls[0] as string, version), await openSession(urls[0] as string, version)]
  expect(await levelsSaid(urls[1], session)).toEqual(['info', 'warning', 'error'])
  expect((await session.ask(setLevel('error'))).message).toMatchObject({ result: {} })
  for (const url of urls) expect(await levelsSaid(url, session)).toEqual(['error'])
  expect((await at(urls[2], session).ask(setLevel('debug'))).message).toMatchObject({ result: {} })
  for (const url of urls) expect(await levelsSaid(url, session)).toEqual(['debug', 'info', 'warning', 'error'])
  expect(await levelsSaid(urls[2], other)).toEqual(['info', 'warning', 'error'])
})
