/** What every revision with sessions promises when replicas or Redis end, stop or restart. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type EventReader, http } from '../support/http-requests.ts'
import { askModern, callTool, initializeMessage, openSession, STREAMABLE } from '../support/http-service.ts'
import { untilStopped } from '../support/processes.ts'
import { counted, isProof, proofSize } from '../support/proof.ts'
import { until } from '../support/until.ts'
import { counting } from './counted-call.ts'
import { Ledger } from './ledger.ts'
import { pauseOf, runCalls } from './load.ts'
import { LEASE_MS, type ReplicaProcess } from './replica-group.ts'
import { AFTER_LEASE_MS, behindEach, count, inEach, LONG, progressOf, upTo } from './session-calls.ts'

/** How long a replica is stopped. Meanwhile others take its streams over. */
const STOPPED_MS = isProof ? 15_000 : LEASE_MS + AFTER_LEASE_MS
/** How long Redis is down. Meanwhile all leases end. */
const DOWN_MS = isProof ? 5000 : LEASE_MS + 1000

/** The sessions that call while each replica is replaced, and how often. */
const RESTARTED_SESSIONS = proofSize('SESSIONS', 9, 300)
const RESTARTS = isProof ? 3 : 1
/** Between the events of their calls. A call has ten, and must end in the five seconds that a replica has to end. */
const RESTARTED_PAUSE_MS = Math.min(300, Math.max(20, pauseOf(RESTARTED_SESSIONS)))

/** What is asked in each way, and its answer. */
const QUESTIONS = {
  form: { method: 'elicitation/create', result: { action: 'accept', content: { name: 'Ada' } } },
  sampling: { method: 'sampling/createMessage', result: { model: 'm', role: 'assistant', content: { type: 'text', text: 'Ada' } } },
}
/** Each way of asking by each tool. 2025-03-26 has no forms. */
const casesOf = (version: string) =>
  (['form', 'sampling'] as const)
    .filter((by) => by === 'sampling' || version !== '2025-03-26')
    .flatMap((by) => ['ask', 'ask_restartable'].map((tool) => ({ tool, by })))

behindEach(({ front, isFull, server, group, randomReplica, startVictim, at }) => {
  test(
    'after a kill a question is answered elsewhere: its call goes on, or ends with an error in time',
    async () => {
      const victim = await startVictim()
      const asked = await inEach((version) =>
        Promise.all(
          casesOf(version).map(async ({ tool, by }) => {
            const session = await openSession(group().url, version, { capabilities: { sampling: {}, elicitation: {} } })
            const stream = await at(victim, session).askStream({ ...callTool(tool, { by }), id: 1 })
            return { version, tool, by, session, stream, question: await stream.message() }
          }),
        ),
      )
      const killedAt = performance.now()
      await victim.end('SIGKILL')
      await Promise.all(
        asked.flat().map(async ({ version, tool, by, session, stream, question }) => {
          const what = `${tool} by ${by} in ${version}`
          await stream.ended
          const { method, result } = QUESTIONS[by]
          expect(question.method, what).toBe(method)
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
      expect([...group().replicas].flatMap(({ lines }) => lines).filter((line) => line === 'stepped')).toEqual([])
    },
    LONG,
  )

  test.runIf(isFull)(
    'a quiet call of a killed replica breaks off, runs nowhere else, and is answered when sent again',
    async () => {
      const victim = await startVictim()
      const begun = await inEach(async (version) => {
        const session = await openSession(group().url, version)
        const run = `quiet-${version}`
        const asked = { ...callTool('hold', { run }), id: 1 }
        const broken = at(victim, session)
          .ask(asked)
          .then(
            ({ status }) => status,
            (error: NodeJS.ErrnoException) => error.code,
          )
        await until(() => victim.lines.includes(`holding ${run}`))
        return { version, session, run, asked, broken }
      })
      const killedAt = performance.now()
      await victim.end('SIGKILL')
      const ends = await Promise.all(begun.map(({ broken }) => broken))
      // Nobody waited for the end of the lease.
      expect(performance.now() - killedAt).toBeLessThan(LEASE_MS)
      expect(ends).toEqual(begun.map(() => (front === 'nginx' ? 502 : 'ECONNRESET')))
      const runsOf = (run: string): number =>
        [...group().replicas].flatMap(({ lines }) => lines).filter((line) => line === `holding ${run}`).length
      await Promise.all(
        begun.map(async ({ version, session, run, asked }) => {
          for (const replica of group().replicas) replica.tell(`release ${run}`)
          const answered = { status: 200, message: { result: { content: [{ text: run }] } } }
          expect(await session.ask({ ...asked, id: 2 }), version).toMatchObject({ ...answered, message: { ...answered.message, id: 2 } })
          // A client must not use an id again. If it does, the request counts as in progress until the lease of its replica has ended.
          let again = await session.ask(asked)
          for (; again.status === 400; again = await session.ask(asked)) {
            expect(again.message.error.message, version).toContain('already in progress')
            await sleep(100)
          }
          expect(again, version).toMatchObject({ ...answered, message: { ...answered.message, id: 1 } })
          expect(performance.now() - killedAt, version).toBeLessThan(LEASE_MS + AFTER_LEASE_MS)
          // Nobody else has run it when the calls of the killed replica are settled.
          await sleep(killedAt + LEASE_MS + AFTER_LEASE_MS - performance.now())
          expect(runsOf(run), version).toBe(2)
        }),
      )
    },
    LONG,
  )

  test.runIf(isFull)(
    'a stream whose reader is killed is resumed elsewhere without gap, repetition or other order',
    async () => {
      const victim = await startVictim()
      const executor = randomReplica()
      const TO = 60
      const begun = await inEach(async (version) => {
        const session = await openSession(group().url, version)
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

  test.runIf(isFull)(
    'a replica that is stopped for longer than its lease can add and write nothing when it goes on',
    async () => {
      const zombie = await startVictim()
      const begun = await inEach(async (version) => {
        const session = await openSession(group().url, version)
        const run = `zombie-${version}`
        const stream = await at(zombie, session).askStream(count(10_000, 10, run))
        await stream.message()
        return { version, session, stream, run }
      })
      const stoppedAt = performance.now()
      zombie.child.kill('SIGSTOP')
      await untilStopped(zombie.child.pid as number)
      const ended = await Promise.all(
        begun.map(async (each) => {
          // What it wrote before it was stopped.
          await untilQuiet(each.stream)
          const before = each.stream.events.filter(({ data }) => data)
          const rest = await each.session.listen(before.at(-1)?.id)
          await rest.ended
          return { ...each, before, rest: rest.events.filter(({ data }) => data), written: each.stream.text }
        }),
      )
      await sleep(STOPPED_MS - (performance.now() - stoppedAt))
      zombie.child.kill('SIGCONT')
      for (const { version, session, stream, before, rest, written } of ended) {
        expect(await stream.ended, version).toBe('cut')
        expect(stream.text, version).toBe(written)
        const messages = [...before, ...rest].map(({ data }) => JSON.parse(data as string))
        expect(messages.at(-1), version).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
        // Each number once and in order, over both connections.
        expect(progressOf(messages), version).toEqual(upTo(messages.length - 1))
        // It joins again, and serves.
        await until(async () => (await at(zombie, session).ask({ ...callTool('where'), id: 2 })).status === 200)
      }
      for (const { version, session, run, before, rest } of ended) {
        // Whatever the store has accepted from the zombie was delivered.
        expect(group().accepted.get(run), version).toBeLessThanOrEqual(before.length + rest.length - 1)
        expect((await session.listen(rest.at(-1)?.id)).status, 'nothing was added after the end').toBe(204)
        const again = await session.listen(before.at(-1)?.id)
        await again.ended
        expect(
          again.events.filter(({ data }) => data),
          'the log is as it was',
        ).toEqual(rest)
      }
      counted({ 'ms: a replica was stopped': STOPPED_MS })
    },
    LONG,
  )

  test.runIf(isFull)(
    'Redis is down for longer than a lease: requests are refused with a time to wait, then all goes on',
    async () => {
      const redisServer = await server()
      const replicas = [...group().replicas]
      const begun = await inEach(async (version) => {
        const session = await openSession(group().url, version)
        const stream = await at(randomReplica(), session).askStream(count(10_000, 10))
        await stream.message()
        return { version, session, stream }
      })
      const downAt = performance.now()
      await redisServer.stop()
      const refusal = { status: 503, headers: { 'retry-after': '2' } }
      let refused = 0
      do {
        await Promise.all(
          replicas.flatMap((replica) =>
            begun.map(async ({ version, session }) => {
              const here = at(replica, session)
              const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x' } }
              expect(await here.ask({ ...callTool('where'), id: 2 }), version).toMatchObject(refusal)
              expect(await here.post(cancel), version).toMatchObject(refusal)
              expect(await here.listen(), version).toMatchObject(refusal)
              expect(await here.end(), version).toMatchObject(refusal)
              expect(await http(replica.url, { body: initializeMessage(version) }), version).toMatchObject(refusal)
              refused += 5
            }),
          ),
        )
        await sleep(100)
      } while (performance.now() - downAt < DOWN_MS)
      const health = async ({ url }: ReplicaProcess, path: string): Promise<string> =>
        (await http(new URL(path, url).href, { method: 'GET' })).text
      const isReady = async (replica: ReplicaProcess): Promise<boolean> => !(await health(replica, '/readyz')).includes('degraded')
      for (const replica of replicas) {
        expect(await isReady(replica)).toBe(false)
        // No place is held in advance for longer than a lease.
        expect(await askModern(replica.url, callTool('where'))).toMatchObject(refusal)
      }
      await redisServer.start()
      for (const replica of replicas) await until(() => isReady(replica))
      for (const { version, session, stream } of begun) {
        // Its replica had no lease any more, and stopped.
        expect(await stream.ended, version).toBe('cut')
        const before = stream.events.filter(({ data }) => data)
        const rest = await (await session.listen(before.at(-1)?.id)).messages()
        const all = [...before.map(({ data }) => JSON.parse(data as string)), ...rest]
        expect(progressOf(all), version).toEqual(upTo(all.length - 1))
        expect(all.at(-1), version).toMatchObject({ id: 1, error: { data: { reason: 'replica_lost' } } })
        for (const replica of replicas) {
          const { status, message } = await at(replica, session).ask({ ...callTool('where'), id: 2 })
          // The same process: nothing was restarted.
          expect({ status, message }, version).toMatchObject({
            status: 200,
            message: { result: { content: [{ text: String(replica.child.pid) }] } },
          })
        }
      }
      counted({ 'ms: Redis was down': Math.round(performance.now() - downAt), 'requests refused with a time to wait': refused })
    },
    LONG,
  )

  test.runIf(isFull)(
    'a rolling restart under load loses no answer',
    async () => {
      const ledger = await rollingRestart((old) => old.end('SIGTERM'))
      ledger.print('rolling restart', group())
      expect(ledger.faults(group())).toEqual({ lost: 0, duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
      expect(ledger.endedWithError).toBe(0)
      // nginx sends a request that it had read before its reload to the old replica, which tells the client to come again.
      const { '503 with Retry-After': told = 0, ...others } = Object.fromEntries(ledger.refusals)
      expect(others).toEqual({})
      if (front === 'random') expect(told).toBe(0)
      // Nothing of what the client sends again had begun.
      expect(ledger.refusedRuns.filter((run) => group().accepted.has(run))).toEqual([])
      counted({ 'requests that were told to come again': told })
    },
    LONG,
  )

  test.runIf(isFull)(
    'a rolling restart loses no answer if each replica gets requests until it has ended',
    async () => {
      const ledger = await rollingRestart(async (old) => {
        // A call of a second keeps the replica from ending at once, so that it has requests to refuse.
        const stream = await (await openSession(old.url, '2025-11-25')).askStream(count(100, 10))
        await stream.message()
        await old.end('SIGTERM', { isBalanced: true })
        expect((await stream.messages()).at(-1)).toMatchObject({ id: 1, result: {} })
      })
      ledger.print('rolling restart, with each replica in the balancer until it has ended', group())
      expect(ledger.faults(group())).toEqual({ lost: 0, duplicated: 0, reordered: 0, hung: 0, foreign: 0 })
      expect(ledger.endedWithError).toBe(0)
      // Clients were told to come again. A request may also meet a connection that the replica closes at the end: the balancer says 502 then.
      const { '503 with Retry-After': told = 0, '502 without Retry-After': met = 0, ...others } = Object.fromEntries(ledger.refusals)
      expect(others).toEqual({})
      expect(told).toBeGreaterThan(0)
      // Nothing of what the client sends again had begun.
      expect(ledger.refusedRuns.filter((run) => group().accepted.has(run))).toEqual([])
      counted({ 'requests that were told to come again': told, 'requests that met a closing connection': met })
    },
    LONG,
  )

  /** Replaces each replica while clients call, one after the other. */
  async function rollingRestart(end: (old: ReplicaProcess) => Promise<void>): Promise<Ledger> {
    const ledger = new Ledger()
    let isOver = false
    const load = inEach((version) =>
      runCalls(group(), ledger, {
        version,
        sessions: Math.ceil(RESTARTED_SESSIONS / STREAMABLE.length),
        isOver: () => isOver,
        call: counting({ to: 10, ms: RESTARTED_PAUSE_MS }),
      }),
    )
    // All sessions are at work before the first replica ends.
    await until(() => ledger.sent > RESTARTED_SESSIONS, 300_000)
    for (let round = 0; round < RESTARTS; round++)
      for (const old of [...group().replicas]) {
        const before = ledger.answered
        await group().start()
        await end(old)
        await until(() => ledger.answered > before + RESTARTED_SESSIONS, 60_000)
      }
    isOver = true
    await load
    return ledger
  }

  test.runIf(isFull)(
    'after Redis has lost everything, new sessions work at all replicas, also at a new one',
    async () => {
      await (await server()).cli('FLUSHALL')
      await group().start()
      for (const version of STREAMABLE) {
        await until(async () => {
          const session = await openSession(group().url, version).catch(() => undefined)
          if (!session) return false
          const answers = await Promise.all(
            [...group().replicas].map((replica, id) => at(replica, session).ask({ ...callTool('where'), id })),
          )
          return answers.every(({ status }) => status === 200)
        })
      }
    },
    LONG,
  )
})

/** Resolves when everything that a stopped process has written is read: the kernel has it, and hands it out at once. */
async function untilQuiet(stream: EventReader): Promise<void> {
  for (let quiet = 0, length = -1; quiet < 10; quiet = stream.text.length === length ? quiet + 1 : 0) {
    length = stream.text.length
    await sleep(10)
  }
}
