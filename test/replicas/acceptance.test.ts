/** What every revision with sessions promises at three replicas behind a balancer that chooses at random. */

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { http } from '../support/http-requests.ts'
import { callTool, type HttpSession, openSession, STREAMABLE, sessionAt, WATCHED } from '../support/http-service.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { counted, isProof, proofSize } from '../support/proof.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { Ledger, runCalls } from './load.ts'
import { startNginx } from './nginx.ts'
import { LEASE_MS, type ReplicaGroup, type ReplicaProcess, startGroup } from './replica-group.ts'

/** What the documentation promises after the end of a lease. */
const AFTER_LEASE_MS = 2000
const LONG = isProof ? 3_600_000 : 60_000
/** Streams that one test keeps open. Each takes three sockets, one of them in a replica. */
const MAX_OPEN = 2000

const server = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'everysec'])
let group: ReplicaGroup
beforeAll(async () => {
  group = await startGroup({ redisUrl: (await server()).url })
}, INSTALL_MS)
afterAll(() => group?.close())

/** A replica that the balancer does not know, so that its death touches no other session. */
async function startVictim(): Promise<ReplicaProcess> {
  const victim = await group.start(false)
  onTestFinished(() => victim.end('SIGKILL'))
  return victim
}

const at = ({ url }: { url: string }, { id, headers }: HttpSession): HttpSession => sessionAt(url, id, headers)
const count = (to: number, ms: number, run = '') => ({ ...callTool('count', { to, ms, run }, WATCHED), id: 1 })
const inEach = <T>(run: (version: string) => Promise<T>): Promise<T[]> => Promise.all(STREAMABLE.map(run))
const progressOf = (messages: { params?: { progress?: number } }[]): (number | undefined)[] =>
  messages.flatMap(({ params }) => (params?.progress === undefined ? [] : [params.progress]))
const upTo = (number: number): number[] => Array.from({ length: number }, (_, i) => i + 1)
const randomReplica = (): ReplicaProcess => {
  const all = [...group.replicas].filter(({ port }) => group.balancer.ports.has(port))
  return all[Math.floor(Math.random() * all.length)] as ReplicaProcess
}

test(
  'each request of a session may reach another replica, and none fails',
  async () => {
    const sessions = Math.ceil(proofSize('SESSIONS', 30, 1000) / STREAMABLE.length)
    const seen = new Set<string>()
    let calls = 0
    await inEach(async (version) => {
      for (let n = 0; n < sessions; n++) {
        const session = await openSession(group.url, version)
        for (let id = 1; id <= 6; id++) {
          const { status, message } = await session.ask({ ...callTool('where'), id })
          expect(status, version).toBe(200)
          seen.add((message.result as { content: [{ text: string }] }).content[0].text)
          calls++
        }
        expect((await session.end()).status).toBe(204)
      }
    })
    expect(seen.size).toBe(3)
    counted({ sessions: sessions * STREAMABLE.length, 'calls answered': calls, 'calls failed': 0 })
  },
  LONG,
)

test(
  'after a kill a question is answered elsewhere: its call goes on, or ends with an error in time',
  async () => {
    const victim = await startVictim()
    const asked = await inEach((version) =>
      Promise.all(
        ['ask', 'ask_restartable'].map(async (tool) => {
          const session = await openSession(group.url, version, { capabilities: { sampling: {} } })
          const stream = await at(victim, session).askStream({ ...callTool(tool), id: 1 })
          return { version, tool, session, stream, question: await stream.message() }
        }),
      ),
    )
    const killedAt = performance.now()
    await victim.end('SIGKILL')
    await Promise.all(
      asked.flat().map(async ({ version, tool, session, stream, question }) => {
        const what = `${tool} in ${version}`
        await stream.ended
        expect(question.method, what).toBe('sampling/createMessage')
        const result = { model: 'm', role: 'assistant', content: { type: 'text', text: 'Ada' } }
        for (let times = 0; times < 2; times++) {
          expect((await session.post({ jsonrpc: '2.0', id: question.id, result })).status, what).toBe(202)
        }
        const last = stream.events.filter(({ data }) => data).at(-1)?.id
        const rest = await (await session.listen(last)).messages()
        expect(performance.now() - killedAt, what).toBeLessThan(LEASE_MS + AFTER_LEASE_MS)
        if (tool === 'ask_restartable')
          expect(rest, what).toMatchObject([{ id: 1, result: { content: [{ text: 'one step: Hello Ada' }] } }])
        else expect(rest, what).toMatchObject([{ id: 1, error: { code: -32603, data: { reason: 'replica_lost', retryable: true } } }])
        expect((await session.ask({ ...callTool('where'), id: 2 })).status, what).toBe(200)
      }),
    )
    // The recorded step did not run again.
    expect([...group.replicas].flatMap(({ lines }) => lines).filter((line) => line === 'stepped')).toEqual([])
  },
  LONG,
)

test(
  'a stream whose reader is killed is resumed elsewhere without gap, repetition or other order',
  async () => {
    const victim = await startVictim()
    const executor = randomReplica()
    const TO = 60
    const begun = await inEach(async (version) => {
      const session = await openSession(group.url, version)
      const stream = await at(executor, session).askStream(count(TO, 10))
      await stream.message()
      stream.destroy()
      await stream.ended
      const before = stream.events.filter(({ data }) => data)
      const held = await at(victim, session).listen(before.at(-1)?.id)
      await held.message()
      return { version, session, before, held }
    })
    await victim.end('SIGKILL')
    for (const { version, session, before, held } of begun) {
      expect(await held.ended, version).toBe('cut')
      const read = held.events.filter(({ data }) => data)
      const resumed = await session.listen(read.at(-1)?.id)
      await resumed.ended
      const all = [...before, ...read, ...resumed.events.filter(({ data }) => data)].map(({ data }) => JSON.parse(data as string))
      expect(progressOf(all), version).toEqual(upTo(TO))
      expect(all.at(-1), version).toMatchObject({ id: 1, result: {} })
      // The last event stays readable, and nothing follows it.
      const end = resumed.events.filter(({ data }) => data).at(-1)?.id
      expect((await session.listen(end)).status, version).toBe(204)
    }
  },
  LONG,
)

test(
  'a replica that is stopped for longer than its lease can add and write nothing when it goes on',
  async () => {
    const zombie = await startVictim()
    const begun = await inEach(async (version) => {
      const session = await openSession(group.url, version)
      const run = `zombie-${version}`
      const stream = await at(zombie, session).askStream(count(2000, 10, run))
      await stream.message()
      return { version, session, stream, run }
    })
    zombie.child.kill('SIGSTOP')
    const readElsewhere = await Promise.all(
      begun.map(async ({ session, stream }) => {
        const last = stream.events.filter(({ data }) => data).at(-1)?.id
        const rest = await session.listen(last)
        await rest.ended
        return rest
      }),
    )
    // The client may still receive what the process wrote before it was stopped.
    const written = begun.map(({ stream }) => stream.events.length)
    zombie.child.kill('SIGCONT')
    for (const [i, { version, session, stream, run }] of begun.entries()) {
      expect(await stream.ended, version).toBe('cut')
      expect(stream.events.length, version).toBe(written[i])
      const rest = readElsewhere[i]?.events.filter(({ data }) => data) ?? []
      expect(JSON.parse(rest.at(-1)?.data ?? '{}'), version).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
      const all = [...stream.events.filter(({ data }) => data).slice(0, 1), ...rest].map(({ data }) => JSON.parse(data as string))
      const numbers = [
        ...new Set([...progressOf(stream.events.flatMap(({ data }) => (data ? [JSON.parse(data)] : []))), ...progressOf(all)]),
      ]
      expect(numbers, version).toEqual(upTo(numbers.length))
      // Whatever the store has accepted from the zombie was delivered.
      expect(group.accepted.get(run), version).toBeLessThanOrEqual(numbers.length)
      expect((await session.listen(rest.at(-1)?.id)).status, 'nothing was added after the end').toBe(204)
      // It joins again, and serves.
      await until(async () => (await at(zombie, session).ask({ ...callTool('where'), id: 2 })).status === 200)
    }
  },
  LONG,
)

test(
  'cursors of other sessions are refused, and sessions of other callers look as if they did not exist',
  async () => {
    await inEach(async (version) => {
      const ada = await openSession(group.url, version, { headers: { 'x-user': 'ada' } })
      const grace = await openSession(group.url, version, { headers: { 'x-user': 'grace' } })
      const other = await openSession(group.url, version, { headers: { 'x-user': 'ada' } })
      const stream = await ada.askStream(count(3, 0))
      await stream.ended
      const cursor = stream.events.filter(({ data }) => data)[0]?.id
      for (const session of [other, grace]) expect((await session.listen(cursor)).status, version).toBe(400)
      const stolen = sessionAt(group.url, ada.id, { ...ada.headers, 'x-user': 'grace' })
      expect((await stolen.listen(cursor)).status, version).toBe(404)
      expect((await stolen.ask(callTool('where'))).status, version).toBe(404)
      expect((await stolen.end()).status, version).toBe(404)
      // Nothing of that has harmed the session.
      expect(progressOf(await (await ada.listen(cursor)).messages()), version).toEqual([2, 3])
    })
  },
  LONG,
)

test(
  'calls are cancelled, and their progress is read, from any replica',
  async () => {
    const executor = randomReplica()
    for (const version of STREAMABLE) {
      const session = await openSession(group.url, version)
      const [begun, ended] = ['working', 'aborted'].map((word) => executor.lines.filter((line) => line === word).length) as [number, number]
      const stream = await at(executor, session).askStream({ ...callTool('work', {}, WATCHED), id: 7 })
      await until(() => executor.lines.filter((line) => line === 'working').length === begun + 1)
      expect(progressOf([await stream.message()]), version).toEqual([1])
      const other = [...group.replicas].find((replica) => replica !== executor) as ReplicaProcess
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
      expect((await at(other, session).post(cancel)).status).toBe(202)
      await until(() => executor.lines.filter((line) => line === 'aborted').length === ended + 1)
      await stream.ended
      expect(await stream.messages(), 'a cancelled call has no answer').toEqual([])
    }
  },
  LONG,
)

test(
  'one update of a resource reaches each of many subscribers exactly once',
  async () => {
    const subscribers = Math.ceil(proofSize('SUBSCRIBERS', 60, 10_000) / STREAMABLE.length)
    const uri = `note://shared-${Math.random()}`
    const subscribed = await inEach(async (version) => {
      const sessions: HttpSession[] = []
      for (let n = 0; n < subscribers; n++) {
        const session = await openSession(group.url, version)
        expect((await session.ask({ method: 'resources/subscribe', params: { uri } })).status).toBe(200)
        sessions.push(session)
      }
      return sessions
    })
    // One half listens, as far as there are sockets. The others come for their messages later.
    const all = subscribed.flat()
    const listening = Math.min(MAX_OPEN, Math.ceil(all.length / 2))
    const early = await Promise.all(all.slice(0, listening).map((session) => session.listen()))
    randomReplica().tell(`changed ${uri}`)
    for (const stream of early) {
      expect(await stream.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
    }
    // Another notice comes after every copy of the first one.
    randomReplica().tell(`list ${Math.floor(Math.random() * 1e9)}`)
    for (const stream of early) {
      expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
      stream.destroy()
    }
    for (const session of all.slice(listening)) {
      const late = await session.listen()
      expect(await late.message()).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
      expect(await late.message()).toMatchObject({ method: 'notifications/tools/list_changed' })
      late.destroy()
    }
    counted({ subscribers: all.length, 'notices delivered': all.length, 'notices lost': 0, 'notices delivered twice': 0 })
  },
  LONG,
)

test(
  'while Redis is down requests are refused with a time to wait, and then the same sessions work again',
  async () => {
    const redisServer = await server()
    const sessions = await inEach((version) => openSession(group.url, version))
    await redisServer.stop()
    for (const session of sessions) {
      for (const replica of group.replicas) {
        const refused = await at(replica, session).ask(callTool('where'))
        expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
      }
    }
    const isReady = async ({ url }: ReplicaProcess): Promise<boolean> =>
      !(await http(new URL('/readyz', url).href, { method: 'GET' })).text.includes('degraded')
    for (const replica of group.replicas) await until(async () => !(await isReady(replica)))
    await redisServer.start()
    for (const replica of group.replicas) await until(() => isReady(replica))
    for (const session of sessions) expect((await session.ask({ ...callTool('where'), id: 2 })).status).toBe(200)
  },
  LONG,
)

test(
  'a rolling restart under load loses no answer',
  async () => {
    const ledger = new Ledger()
    let isOver = false
    const load = inEach((version) => runCalls(group, ledger, { version, sessions: 3, isOver: () => isOver, to: 10, ms: 20 }))
    for (const old of [...group.replicas]) {
      const before = ledger.answered
      await group.start()
      await old.end('SIGTERM')
      await until(() => ledger.answered > before + 9)
    }
    isOver = true
    await load
    ledger.print('rolling restart', group)
    expect(ledger.faults(group)).toEqual({ lost: 0, duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
    expect([ledger.endedWithError, ledger.refused]).toEqual([0, 0])
  },
  LONG,
)

test(
  'of two readers of one session the newest gets the messages',
  async () => {
    await inEach(async (version) => {
      const session = await openSession(group.url, version)
      const uri = `note://${version}-${Math.random()}`
      await session.ask({ method: 'resources/subscribe', params: { uri } })
      const [first, second, third] = [...group.replicas] as [ReplicaProcess, ReplicaProcess, ReplicaProcess]
      const older = await at(first, session).listen()
      const newer = await at(second, session).listen()
      expect(await older.ended, version).toBe('end')
      const newest = await at(first, session).listen()
      expect(await newer.ended, version).toBe('end')
      third.tell(`changed ${uri}`)
      expect(await newest.message(), version).toMatchObject({ method: 'notifications/resources/updated', params: { uri } })
      expect([...(await older.messages()), ...(await newer.messages())], version).toEqual([])
      newest.destroy()
    })
  },
  LONG,
)

test('behind nginx, which takes the replicas in turn, sessions work and streams are resumed', async () => {
  const nginx = await startNginx([...group.balancer.ports])
  onTestFinished(() => nginx.close())
  const seen = new Set<string>()
  await inEach(async (version) => {
    const session = await openSession(nginx.url, version)
    for (let id = 1; id <= 6; id++) {
      const { status, message } = await session.ask({ ...callTool('where'), id })
      expect(status, version).toBe(200)
      seen.add((message.result as { content: [{ text: string }] }).content[0].text)
    }
    const stream = await session.askStream(count(30, 10))
    const before = [await stream.message(), await stream.message()]
    const cursor = stream.events.filter(({ data }) => data)[1]?.id
    stream.destroy()
    const rest = await (await session.listen(cursor)).messages()
    expect(progressOf([...before, ...rest]), version).toEqual(upTo(30))
    expect((await session.end()).status, version).toBe(204)
  })
  expect(seen.size).toBe(3)
}, LONG)

test('after Redis has lost everything, new sessions work at all replicas, also at a new one', async () => {
  await (await server()).cli('FLUSHALL')
  await group.start()
  for (const version of STREAMABLE) {
    await until(async () => {
      const session = await openSession(group.url, version).catch(() => undefined)
      if (!session) return false
      const answers = await Promise.all([...group.replicas].map((replica, id) => at(replica, session).ask({ ...callTool('where'), id })))
      return answers.every(({ status }) => status === 200)
    })
  }
}, LONG)

test(
  'a client that only listens keeps its subscription, and in the end nothing is left in Redis',
  async () => {
    const redisServer = await server()
    const IDLE_MS = 1500
    const short = await startGroup({ redisUrl: redisServer.url, prefix: 'leftovers:', leaseMs: 500, limits: { sessionIdleMs: IDLE_MS } })
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
