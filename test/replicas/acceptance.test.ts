/** What every revision with sessions promises at three replicas. */

import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { EventReader } from '../support/http-requests.ts'
import { callTool, type HttpSession, openSession, STREAMABLE, sessionAt, WATCHED } from '../support/http-service.ts'
import { counted, proofSize } from '../support/proof.ts'
import { until } from '../support/until.ts'
import { REPLICA_HEADER } from './nginx.ts'
import { type ReplicaProcess, startGroup } from './replica-group.ts'
import { behindEach, count, inEach, LONG, progressOf, upTo } from './session-calls.ts'

/** Streams that one test keeps open. Each takes three sockets, one of them in a replica. */
const MAX_OPEN = 2000
/** Calls of one session. */
const CALLS = 6

behindEach(({ front, isFull, server, group, randomReplica, apart }) => {
  const openSessions = async (version: string, count: number): Promise<HttpSession[]> => {
    const sessions: HttpSession[] = []
    while (sessions.length < count) sessions.push(await openSession(group().url, version))
    return sessions
  }
  /** Checks that nginx has sent each request to another replica. */
  const checkApart = (answers: { headers: IncomingHttpHeaders }[]): void => {
    if (front === 'nginx') expect(new Set(answers.map(({ headers }) => headers[REPLICA_HEADER])).size).toBe(answers.length)
  }

  test(
    'each request of many open sessions may reach another replica, and none fails',
    async () => {
      const opened = await inEach((version) => openSessions(version, Math.ceil(proofSize('SESSIONS', 30, 1000) / STREAMABLE.length)))
      const seen = new Set<string>()
      const failures: string[] = []
      let answered = 0
      const call = async (session: HttpSession, id: number): Promise<void> => {
        try {
          const { status, text, message } = await session.ask({ ...callTool('where'), id })
          const replica = message.result?.content[0].text
          if (status !== 200 || replica === undefined) throw new Error(`${status} ${text}`)
          seen.add(replica)
          answered++
        } catch (error) {
          failures.push(`${session.headers['mcp-protocol-version']}: ${error}`)
        }
      }
      // All sessions stay open: each makes its next call when all have made the one before.
      for (let id = 1; id <= CALLS; id++) {
        await Promise.all(
          opened.map(async (sessions) => {
            for (const session of sessions) await call(session, id)
          }),
        )
      }
      const sessions = opened.flat()
      counted({ 'sessions open at the same time': sessions.length, 'calls answered': answered, 'calls failed': failures.length })
      expect(failures).toEqual([])
      expect(answered).toBe(sessions.length * CALLS)
      expect(seen.size).toBe(3)
      for (const session of sessions) expect((await session.end()).status).toBe(204)
    },
    LONG,
  )

  test(
    'a stream that its client breaks off is resumed at another replica',
    async () => {
      for (const version of STREAMABLE) {
        const session = await openSession(group().url, version)
        const [first, second] = apart(session)
        const stream = await first.askStream(count(30, 10))
        const before = [await stream.message(), await stream.message()]
        const cursor = stream.events.filter(({ data }) => data)[1]?.id
        stream.destroy()
        const resumed = await second.listen(cursor)
        checkApart([stream, resumed])
        expect(progressOf([...before, ...(await resumed.messages())]), version).toEqual(upTo(30))
        expect((await session.end()).status, version).toBe(204)
      }
    },
    LONG,
  )

  test.runIf(isFull)(
    'foreign and malformed cursors are refused with 400, and sessions of other callers with 404',
    async () => {
      await inEach(async (version) => {
        const ada = await openSession(group().url, version, { headers: { 'x-user': 'ada' } })
        const other = await openSession(group().url, version, { headers: { 'x-user': 'ada' } })
        const grace = await openSession(group().url, version, { headers: { 'x-user': 'grace' } })
        const stream = await ada.askStream(count(3, 0))
        await stream.ended
        const cursor = stream.events.filter(({ data }) => data)[0]?.id as string
        const statusOf = async (session: HttpSession, lastEventId: string): Promise<number> => (await session.listen(lastEventId)).status
        // The session is the caller's own, and the cursor is of another session: of the same caller, or of somebody else.
        for (const session of [other, grace]) expect(await statusOf(session, cursor), version).toBe(400)
        // The cursor is none.
        const [name, id, position] = cursor.split('.')
        for (const malformed of [
          'x',
          '-1',
          `${name}`,
          `${name}.`,
          `${name}.${id}`,
          `${name}..${position}`,
          `${name}.${id}.9999-0`,
          cursor.repeat(20),
        ])
          expect(await statusOf(ada, malformed), `${version}: ${malformed}`).toBe(400)
        // The session is that of another caller: it looks as if it did not exist.
        const stolen = sessionAt(group().url, ada.id, { ...ada.headers, 'x-user': 'grace' })
        expect(await statusOf(stolen, cursor), version).toBe(404)
        expect((await stolen.listen()).status, version).toBe(404)
        expect((await stolen.ask(callTool('where'))).status, version).toBe(404)
        expect((await stolen.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })).status, version).toBe(
          404,
        )
        expect((await stolen.end()).status, version).toBe(404)
        // Nothing of that has harmed the sessions.
        expect(progressOf(await (await ada.listen(cursor)).messages()), version).toEqual([2, 3])
        for (const session of [other, grace]) expect((await session.ask(callTool('where'))).status, version).toBe(200)
      })
    },
    LONG,
  )

  test(
    'the progress of a call is read at a second replica, and a third cancels it',
    async () => {
      const said = (word: string): number => [...group().replicas].flatMap(({ lines }) => lines).filter((line) => line === word).length
      for (const version of STREAMABLE) {
        const session = await openSession(group().url, version)
        const [executor, reader, canceller] = apart(session)
        const [begun, ended] = [said('working'), said('aborted')]
        const stream = await executor.askStream({ ...callTool('work', {}, WATCHED), id: 7 })
        expect(progressOf([await stream.message()]), version).toEqual([1])
        await until(() => said('working') === begun + 1)
        stream.destroy()
        await stream.ended
        const before = stream.events.filter(({ data }) => data)
        const elsewhere = await reader.listen(before.at(-1)?.id)
        expect(elsewhere.status, version).toBe(200)
        // The call is in progress: this is said while the other replica reads it.
        const read = []
        while (read.length < 5) read.push(await elsewhere.message())
        expect(progressOf(read), version).toEqual(upTo(before.length + 5).slice(before.length))
        const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
        const cancelled = await canceller.post(cancel)
        expect(cancelled.status, version).toBe(202)
        checkApart([stream, elsewhere, cancelled])
        await until(() => said('aborted') === ended + 1)
        expect(await elsewhere.ended, version).toBe('end')
        const all = [...before, ...elsewhere.events.filter(({ data }) => data)].map(({ data }) => JSON.parse(data as string))
        expect(progressOf(all), 'a cancelled call has no answer').toEqual(upTo(all.length))
        const last = elsewhere.events.filter(({ data }) => data).at(-1)?.id
        expect((await session.listen(last)).status, version).toBe(204)
      }
    },
    LONG,
  )

  test.runIf(isFull)(
    'one update of a resource reaches each of many subscribers exactly once, also when more is said later',
    async () => {
      const subscribers = Math.ceil(proofSize('SUBSCRIBERS', 60, 10_000) / STREAMABLE.length)
      const name = Math.random()
      const uri = `note://shared-${name}`
      const subscribe = async (session: HttpSession, to: string): Promise<void> => {
        expect((await session.ask({ method: 'resources/subscribe', params: { uri: to } })).status).toBe(200)
      }
      const subscribed = await inEach(async (version) => {
        const sessions = await openSessions(version, subscribers)
        for (const session of sessions) await subscribe(session, uri)
        return sessions
      })
      const all = subscribed.flat()
      const updatesIn = (stream: EventReader, of: string): number => stream.text.split(`"uri":"${of}"`).length - 1
      const counts = { delivered: 0, lost: 0, twice: 0 }
      /** Sends two more notices of other kinds, one after the other. What came late of the first one would come before them. */
      const checkOnce = async (streams: EventReader[], sessions: HttpSession[], end: string): Promise<void> => {
        randomReplica().tell(`list ${Math.floor(Math.random() * 1e9)}`)
        for (const stream of streams) {
          while ((await stream.message()).method !== 'notifications/tools/list_changed');
        }
        await Promise.all(sessions.map((session) => subscribe(session, end)))
        randomReplica().tell(`changed ${end}`)
        for (const stream of streams) {
          while ((await stream.message()).params?.uri !== end);
          const updates = updatesIn(stream, uri)
          if (updates > 0) counts.delivered++
          else counts.lost++
          if (updates > 1) counts.twice++
          stream.destroy()
        }
      }
      // One half listens, as far as there are sockets. The others come for their messages later.
      const listening = Math.min(MAX_OPEN, Math.ceil(all.length / 2))
      const early = await Promise.all(all.slice(0, listening).map((session) => session.listen()))
      randomReplica().tell(`changed ${uri}`)
      for (const stream of early) {
        expect(await stream.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
      }
      await checkOnce(early, all.slice(0, listening), `note://end-${name}`)
      for (let from = listening; from < all.length; from += MAX_OPEN) {
        const sessions = all.slice(from, from + MAX_OPEN)
        const late = await Promise.all(sessions.map((session) => session.listen()))
        for (const stream of late) {
          expect(await stream.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
        }
        await checkOnce(late, sessions, `note://end-${name}-${from}`)
      }
      counted({
        subscribers: all.length,
        'notices delivered': counts.delivered,
        'notices lost': counts.lost,
        'notices delivered twice': counts.twice,
      })
      expect(counts).toEqual({ delivered: all.length, lost: 0, twice: 0 })
    },
    LONG,
  )

  test(
    'of two readers of one session the newest gets the messages',
    async () => {
      // One after the other, so that nginx takes another replica for each reader.
      for (const version of STREAMABLE) {
        const session = await openSession(group().url, version)
        const uri = `note://${version}-${Math.random()}`
        await session.ask({ method: 'resources/subscribe', params: { uri } })
        const [first, second, third] = apart(session)
        const older = await first.listen()
        const newer = await second.listen()
        expect(await older.ended, version).toBe('end')
        const newest = await third.listen()
        expect(await newer.ended, version).toBe('end')
        checkApart([older, newer, newest])
        randomReplica().tell(`changed ${uri}`)
        expect(await newest.message(), version).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
        expect([...(await older.messages()), ...(await newer.messages())], version).toEqual([])
        newest.destroy()
      }
    },
    LONG,
  )

  test.runIf(isFull)(
    'a client that only listens keeps its subscription, and in the end nothing is left in Redis',
    async () => {
      const redisServer = await server()
      const IDLE_MS = 1500
      const short = await startGroup({
        redisUrl: redisServer.url,
        front,
        prefix: 'leftovers:',
        leaseMs: 500,
        limits: { sessionIdleMs: IDLE_MS },
      })
      onTestFinished(() => short.close())
      const left = async (): Promise<string[]> => (await redisServer.scan()).filter((name) => name.startsWith('leftovers:'))
      const uri = 'note://kept'
      const streams = await inEach(async (version) => {
        const session = await openSession(short.url, version)
        await (await session.askStream(count(3, 0))).ended
        await session.ask({ method: 'resources/subscribe', params: { uri } })
        return session.listen()
      })
      expect((await left()).length).toBeGreaterThan(10)
      // Subscriptions are kept for one and a half times this.
      await sleep(IDLE_MS * 2)
      const [killed, ...others] = [...short.replicas] as [ReplicaProcess, ...ReplicaProcess[]]
      killed.tell(`changed ${uri}`)
      for (const stream of streams) {
        expect(await stream.message()).toMatchObject({ params: { uri } })
        stream.destroy()
      }
      await killed.end('SIGKILL')
      for (const replica of others) await replica.end('SIGTERM')
      await until(async () => (await left()).length === 0, 30_000)
    },
    LONG,
  )
})
