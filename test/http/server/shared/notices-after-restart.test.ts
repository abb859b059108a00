/** Changes that are announced while Redis is away: every session hears of each once when it is back. */

import { expect, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { redis } from '../../../../src/redis/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import type { EventReader } from '../../../support/http-requests.ts'
import { type HttpSession, openSession, STREAMABLE, testServer, until } from '../../../support/http-service.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { type Replicas, serveReplicas } from '../../../support/replicas.ts'

const server = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'always'])
const URI = 'note://1'

interface Subscribed extends Replicas {
  sessions: HttpSession[]
  /** How often the store did not answer the replica that announces. */
  failures(): number
}

async function subscribedSessions(leaseMs: number): Promise<Subscribed> {
  const { url } = await server()
  const prefix = `${randomId()}:`
  const stores = [0, 1].map(() => redis(url, { prefix, leaseMs, timeoutMs: 200 }))
  const replicas = await serveReplicas(
    () => {
      const own = testServer()
      own.resource('note://{id}', { name: 'note' }, ({ id }) => id)
      return own
    },
    { count: 2, stores },
  )
  const sessions = await Promise.all(STREAMABLE.map((version) => openSession(replicas.urls[0] as string, version)))
  for (const session of sessions)
    for (const uri of [URI, 'note://marker'])
      expect((await session.ask({ method: 'resources/subscribe', params: { uri } })).status).toBe(200)
  let failures = 0
  const { topics } = stores[1] as SharedStore
  const { page } = topics
  topics.page = (...args) =>
    page(...args).catch((error: unknown) => {
      failures++
      throw error
    })
  return { ...replicas, sessions, failures: () => failures }
}

const noticesOf = ({ events }: EventReader): string[] =>
  events.flatMap(({ data }) => (data ? [JSON.parse(data) as { method: string; params?: { uri?: string } }] : [])).map(nameOf)
const nameOf = ({ method, params }: { method: string; params?: { uri?: string } }): string => params?.uri ?? method

/** Comes back whenever the stream ends: on a slow machine a short lease ends in between. */
async function noticesUntilMarker(session: HttpSession): Promise<string[]> {
  const notices: string[] = []
  let lastEventId: string | undefined
  while (!notices.includes('note://marker')) {
    const stream = await session.listen(lastEventId)
    await Promise.race([stream.ended, until(() => noticesOf(stream).includes('note://marker'))])
    stream.destroy()
    notices.push(...noticesOf(stream))
    lastEventId = stream.events.at(-1)?.id ?? lastEventId
  }
  return notices
}

test('a change that is announced while Redis restarts reaches each session once', async () => {
  const redisServer = await server()
  const { sessions, servers, failures } = await subscribedSessions(20_000)
  const streams = await Promise.all(sessions.map((session) => session.listen()))
  await redisServer.stop()
  servers[1]?.resourceChanged(URI)
  servers[1]?.tool('new', {}, () => 'new')
  await until(() => failures() > 0)
  await redisServer.start()
  await until(() => streams.every((stream) => noticesOf(stream).length === 2))
  servers[1]?.resourceChanged('note://marker')
  for (const stream of streams) {
    await until(() => noticesOf(stream).includes('note://marker'))
    expect(noticesOf(stream)).toEqual([URI, 'notifications/tools/list_changed', 'note://marker'])
  }
})

test('a change that is announced while Redis is away for longer than the lease reaches each session once', async () => {
  const redisServer = await server()
  const { sessions, servers, stores, failures } = await subscribedSessions(2000)
  const announcer = (stores[1] as SharedStore).replica
  await announcer.join()
  const { id } = announcer
  await redisServer.stop()
  servers[1]?.resourceChanged(URI)
  servers[1]?.tool('new', {}, () => 'new')
  await until(() => announcer.id !== id)
  const before = failures()
  await until(() => failures() > before)
  await redisServer.start()
  await until(() => announcer.isHeld)
  servers[1]?.resourceChanged('note://marker')
  for (const session of sessions)
    expect(await noticesUntilMarker(session)).toEqual([URI, 'notifications/tools/list_changed', 'note://marker'])
})
