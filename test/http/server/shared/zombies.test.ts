/** A replica that was stopped, and goes on after its lease has ended, writes nothing more to its clients: others may have continued. */

import { expect, test } from 'vitest'
import { FIXED_HTTP_LIMITS } from '../../../../src/http/server/fixed-limits.ts'
import { CallerUsage } from '../../../../src/http/server/limits/caller-usage.ts'
import { InFlight } from '../../../../src/http/server/limits/in-flight.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../../src/http/server/options.ts'
import type { HttpRequestView } from '../../../../src/http/server/runtime/request-reply.ts'
import { KeptShares } from '../../../../src/http/server/shared/kept-shares.ts'
import { boundsOf } from '../../../../src/http/server/shared/log-bounds.ts'
import { LoggedStream } from '../../../../src/http/server/shared/logged-stream.ts'
import { ReplicaMessages } from '../../../../src/http/server/shared/replica-messages.ts'
import type { ReplicaServices } from '../../../../src/http/server/shared/replica-services.ts'
import { StreamReaders } from '../../../../src/http/server/shared/stream-readers.ts'
import { Tails } from '../../../../src/http/server/shared/tails.ts'
import { OpenStreams } from '../../../../src/http/server/streams/open-streams.ts'
import type { OnRequest, RequestRecord } from '../../../../src/observability/index.ts'
import { memoryStore, type SharedStore } from '../../../../src/store/index.ts'
import { fakeClock } from '../../../../src/testing/index.ts'
import { callTool, gate, openSession, STREAMABLE, testServer } from '../../../support/http-service.ts'
import { serveReplicas } from '../../../support/replicas.ts'
import { until } from '../../../support/until.ts'
import { TestReply, type TestSink } from '../test-sink.ts'

const usage = new CallerUsage('address', 'a')

/** A replica with a session, whose lease a test ends. */
async function replicaWithLease() {
  const store = memoryStore()
  const lease = { isHeld: () => true }
  Object.defineProperty(store.replica, 'isHeld', { get: () => lease.isHeld() })
  await store.sessions.create('s', '{}', { ttlMs: 60_000, maxAgeMs: 60_000 })
  const limits = { ...DEFAULT_HTTP_LIMITS, ...FIXED_HTTP_LIMITS }
  const clock = fakeClock()
  const open = new OpenStreams(limits, clock, () => {})
  let batches = 0
  const services = {
    store,
    limits,
    clock,
    open,
    inFlight: new InFlight(limits),
    bounds: boundsOf(limits),
    shares: new KeptShares(limits, clock),
    tails: new Tails(store, open, () => {}),
    messages: new ReplicaMessages(store.replica),
    nextBatch: () => ++batches,
    report: () => {},
  } as unknown as ReplicaServices
  return { services, lease, limits }
}

const eventsIn = (sink: TestSink | undefined): unknown[] =>
  (sink?.written.join('') ?? '').split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))

test('a stream whose client reads slowly writes no more events when the lease ends in between', async () => {
  const { services, lease, limits } = await replicaWithLease()
  const owner = {
    sid: 's',
    stream: 'r1',
    eventName: 'e',
    isPolled: false,
    usage,
    callJson: '{}',
    refusedJson: '{}',
    lostJson: '{}',
    abort: () => {},
    onFenced: () => {},
    onWritten: () => {},
    onUnattended: () => {},
  }
  const stream = new LoggedStream(owner, services)
  const reply = new TestReply()
  stream.connect(reply)
  const sink = reply.sinks[0] as TestSink
  sink.pending = limits.softBufferBytes + 1
  for (const at of [1, 2, 3]) void stream.push(`{"at":${at}}`)
  await until(() => sink.waiting.length > 0)
  lease.isHeld = () => false
  sink.pending = 0
  for (const drained of sink.waiting.splice(0)) drained()
  await stream.written()
  expect([eventsIn(sink), sink.isDestroyed]).toEqual([[{ at: 1 }], true])
})

test.each([0, 1, 2])('a stream that is resumed writes no more events when the lease ends after %i', async (count) => {
  const { services, lease, limits } = await replicaWithLease()
  const { streams } = services.store
  const epoch = (await streams.open('s', 'r1', '{}')) as number
  const events = [1, 2, 3].map((at) => ({ json: `{"at":${at}}` }))
  await streams.append('s', 'r1', { n: 1, epoch, events }, boundsOf(limits))
  const readers = new StreamReaders(services, { disconnect: () => {} } as never, () => usage)
  const reply = new TestReply()
  lease.isHeld = () => eventsIn(reply.sinks[0]).length < count
  const request = { header: (name: string) => (name === 'last-event-id' ? 'e.r1.' : undefined) } as HttpRequestView
  const record = { principal: undefined, eventName: 'e', caller: '', state: {} as never }
  await readers.read({ sid: 's', record, revision: 1 }, request, reply)
  expect([eventsIn(reply.sinks[0]), reply.sinks[0]?.isDestroyed]).toEqual([
    events.slice(0, count).map(({ json }) => JSON.parse(json)),
    true,
  ])
})

test.each(STREAMABLE)('in %s an answer as JSON becomes an error when the lease has ended meanwhile', async (version) => {
  const store = memoryStore()
  const lease = { isHeld: true }
  Object.defineProperty(store.replica, 'isHeld', { get: () => lease.isHeld })
  const records: RequestRecord[] = []
  const { url, isRunning, goOn } = await serveWaiting(store, (record) => records.push(record))
  const session = await openSession(url, version)
  const call = session.ask({ ...callTool('wait'), id: 4 })
  await isRunning
  lease.isHeld = false
  goOn()
  const lost = { code: -32603, data: { reason: 'replica_lost', retryable: true } }
  expect(await call).toMatchObject({ status: 200, message: { id: 4, error: lost } })
  await until(() => records.some(({ id }) => id === 4))
  expect(records.filter(({ id }) => id === 4)).toMatchObject([{ outcome: 'error', code: -32603, reason: 'replica_lost' }])
})

test('a request that began without a lease gets its answer: nobody can have taken it over', async () => {
  const store = memoryStore()
  const { url, isRunning, goOn } = await serveWaiting(store)
  const session = await openSession(url, '2025-11-25')
  Object.defineProperty(store.replica, 'isHeld', { get: () => false })
  const call = session.ask({ ...callTool('wait'), id: 4 })
  await isRunning
  goOn()
  expect(await call).toMatchObject({ status: 200, message: { id: 4, result: { content: [{ text: 'done' }] } } })
})

/** A server with a tool that waits until the test lets it go on. */
async function serveWaiting(store: SharedStore, onRequest?: OnRequest) {
  const running = gate()
  const going = gate()
  const { url } = await serveReplicas(
    () => {
      const own = testServer()
      own.tool('wait', {}, async () => {
        running.open()
        await going.opened
        return 'done'
      })
      return own
    },
    { count: 1, stores: [store], ...(onRequest && { onRequest }) },
  )
  return { url, isRunning: running.opened, goOn: () => going.open() }
}
