/** The rules of the sessions of a store. */

import { randomId } from '../../base/bytes.ts'
import type { Entered } from '../../store/session-table.ts'
import { append, attach, BOUNDS, expectEqual, expectTrue, jsonOf, newSession, openStream, pause, type StoreCheck } from './expect.ts'

const recordOf = (entered: Entered): unknown => (typeof entered === 'string' ? entered : [entered.record, entered.revision])

const keepsRecords: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = randomId()
  expectEqual('enter before create', await a.sessions.enter(sid, undefined, 10), 'gone')
  await a.sessions.create(sid, '{"who":"ä\\u0000"}', { ttlMs: 60_000, maxAgeMs: 60_000 })
  expectEqual('record at another replica', recordOf(await b.sessions.enter(sid, undefined, 10)), ['{"who":"ä\\u0000"}', 1])
  expectEqual('end', await b.sessions.end(sid), true)
  expectEqual('enter after end', await a.sessions.enter(sid, undefined, 10), 'gone')
  expectEqual('end again', await a.sessions.end(sid), false)
  expectEqual('replace after end', await a.sessions.replace(sid, '{}', 1), false)
}

/** Of several changes at the same time, one is made. */
const comparesRevisions: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const changes = await Promise.all([a, b, a, b].map((store, at) => store.sessions.replace(sid, `{"at":${at}}`, 1)))
  expectEqual('changes of one revision', changes.filter(Boolean).length, 1)
  expectEqual('the change that was made', recordOf(await b.sessions.enter(sid, undefined, 10)), [`{"at":${changes.indexOf(true)}}`, 2])
  expectEqual('replace of an old revision', await a.sessions.replace(sid, '{}', 1), false)
  expectEqual('replace of the current revision', await b.sessions.replace(sid, '{}', 2), true)
}

const registersRequests: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const entered = await Promise.all([a.sessions.enter(sid, 'n:1', 2), b.sessions.enter(sid, 'n:1', 2)])
  expectEqual('two requests with one id', entered.filter((each) => each === 'duplicate').length, 1)
  const runner = entered[0] === 'duplicate' ? b : a
  expectEqual('the replica that runs it', await a.sessions.cancel(sid, 'n:1'), runner.replica.id)
  expectTrue('a second request', typeof (await b.sessions.enter(sid, 's:1', 2)) === 'object')
  expectEqual('one request too many', await a.sessions.enter(sid, 'n:3', 2), 'full')
  expectTrue('enter without a request', typeof (await a.sessions.enter(sid, undefined, 2)) === 'object')
  await (runner === a ? b : a).sessions.leave(sid, 'n:1')
  expectEqual('a request that another replica leaves', await a.sessions.cancel(sid, 'n:1'), runner.replica.id)
  await runner.sessions.leave(sid, 'n:1')
  expectEqual('the runner of a request that is over', await a.sessions.cancel(sid, 'n:1'), undefined)
  expectTrue('a request with the id of one that is over', typeof (await a.sessions.enter(sid, 'n:1', 2)) === 'object')
  await a.sessions.leave(sid, 'unknown')
}

/** Requests of a replica that is gone do not count for ever. */
const forgetsRequestsOfTheDead: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  await a.sessions.enter(sid, '1', 1)
  await a.close()
  expectTrue('the request of a replica that left, again', typeof (await b.sessions.enter(sid, '1', 1)) === 'object')
  expectEqual('the replica that runs it now', await b.sessions.cancel(sid, '1'), b.replica.id)
}

/** A cancellation lasts as long as its request, also after a takeover. */
const keepsCancellations: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const isCancelled = (entered: Entered): unknown => (typeof entered === 'string' ? entered : entered.isCancelled)
  await Promise.all([a.sessions.enter(sid, '1', 3), b.sessions.enter(sid, '2', 3), a.sessions.enter(sid, '3', 3)])
  expectEqual('cancelled requests before there are any', await a.sessions.cancelled(sid, ['1', '2', '4']), [])
  await b.sessions.cancel(sid, '1')
  expectEqual('cancelled requests', await b.sessions.cancelled(sid, ['4', '2', '1']), ['1'])
  expectEqual('the cancelled requests among none', await b.sessions.cancelled(sid, []), [])
  expectEqual('a takeover from a replica that lives', await b.sessions.enter(sid, '1', 3, true), 'duplicate')
  await a.close()
  expectEqual('the runner of a request whose replica left', (await b.sessions.cancel(sid, '3')) !== b.replica.id, true)
  expectEqual('a cancelled request that is taken over', isCancelled(await b.sessions.enter(sid, '1', 3, true)), true)
  expectEqual('the replica that runs it now', await b.sessions.cancel(sid, '1'), b.replica.id)
  expectEqual('cancelled requests after the takeover', await b.sessions.cancelled(sid, ['1']), ['1'])
  await b.sessions.leave(sid, '1')
  expectEqual('a cancelled request that is over', await b.sessions.cancelled(sid, ['1']), [])
  expectEqual('a new request with its id', isCancelled(await b.sessions.enter(sid, '1', 3)), false)
  expectEqual('a new request with the id of a cancelled one', isCancelled(await b.sessions.enter(sid, '3', 3)), false)
  await b.sessions.leave(sid, '2')
  expectEqual('a taken over request that is not registered', isCancelled(await b.sessions.enter(sid, '4', 3, true)), false)
  expectEqual('one too many that is taken over', await b.sessions.enter(sid, '5', 3, true), 'full')
}

/** A takeover whose reply was lost is tried again. */
const repeatsTakeovers: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const sid = await newSession(a)
  await Promise.all(['1', '2'].map((call) => a.sessions.enter(sid, call, 3)))
  await a.sessions.cancel(sid, '1')
  await a.close()
  for (const each of ['a takeover', 'the same takeover again']) {
    const entered = await b.sessions.enter(sid, '1', 3, true)
    expectEqual(each, typeof entered === 'string' ? entered : entered.isCancelled, true)
  }
  expectEqual('a takeover by two replicas', await c.sessions.enter(sid, '1', 3, true), 'duplicate')
  expectEqual('a new request with the id of one that was taken over', await b.sessions.enter(sid, '1', 3), 'duplicate')
  await b.sessions.enter(sid, '2', 3)
  expectEqual('a takeover of a request that the client has sent again', await b.sessions.enter(sid, '2', 3, true), 'duplicate')
}

/** Requests of a dead replica do not keep a session full. */
const freesPlacesOfTheDead: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  await Promise.all(['1', '2'].map((call) => a.sessions.enter(sid, call, 2)))
  await a.close()
  expectTrue('a request that is taken over in a full session', typeof (await b.sessions.enter(sid, '1', 2, true)) === 'object')
  expectTrue('another one in the place of a replica that left', typeof (await b.sessions.enter(sid, '3', 2)) === 'object')
  expectEqual('one request too many', await b.sessions.enter(sid, '4', 2), 'full')
}

const keepsCancellationsWhenFull: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const sid = await newSession(a)
  await Promise.all(['1', '2'].map((call) => a.sessions.enter(sid, call, 2)))
  await a.sessions.cancel(sid, '1')
  await a.close()
  for (const call of ['3', '4']) expectTrue(`request ${call} of two at once`, typeof (await b.sessions.enter(sid, call, 2)) === 'object')
  expectEqual('one request too many beside a cancelled one', await b.sessions.enter(sid, '5', 2), 'full')
  expectEqual('the cancelled requests of a replica that left', await c.sessions.cancelled(sid, ['1', '2']), ['1'])
  for (const call of ['3', '4']) await b.sessions.cancel(sid, call)
  await b.close()
  for (const call of ['5', '6'])
    expectTrue(`request ${call} beside three cancelled ones`, typeof (await c.sessions.enter(sid, call, 2)) === 'object')
  expectEqual('the cancelled ones that are kept', (await c.sessions.cancelled(sid, ['1', '3', '4'])).length, 2)
}

const expires: StoreCheck = async (open) => {
  const store = await open()
  const [idle, used, old] = [
    await newSession(store, { ttlMs: 300 }),
    await newSession(store, { ttlMs: 300 }),
    await newSession(store, { ttlMs: 300, maxAgeMs: 450 }),
  ]
  const long = await newSession(store, { ttlMs: 600_000 })
  let renewals = 0
  let early = 0
  for (let round = 0; round < 5; round++) {
    await pause(100)
    const entered = await store.sessions.enter(used, undefined, 10)
    expectTrue('a session in use', typeof entered === 'object')
    if (typeof entered === 'object' && entered.isTopicRenewalDue) renewals++
    await store.sessions.enter(old, undefined, 10)
    const again = await store.sessions.enter(long, undefined, 10)
    if (typeof again === 'object' && again.isTopicRenewalDue) early++
  }
  expectEqual('a session without use', await store.sessions.enter(idle, undefined, 10), 'gone')
  expectEqual('a session of the largest age', await store.sessions.enter(old, undefined, 10), 'gone')
  expectTrue(`renewals of topics are due, ${renewals} times in 500 ms with a life of 300 ms`, renewals >= 3)
  expectEqual('renewals of topics in half a second, with a life of ten minutes', early, 0)
}

/** Each use of a session keeps everything of it that has no end of its own. */
const keepsAllInUse: StoreCheck = async (open) => {
  const store = await open()
  const { sessions, streams } = store
  const uses: [use: string, begin: (sid: string) => Promise<() => Promise<unknown>>][] = [
    ['requests', async (sid) => () => sessions.enter(sid, undefined, 10)],
    [
      'events of a running request',
      async (sid) => {
        const epoch = await openStream(store, sid, 'r1')
        let n = 0
        return () => append(store, sid, 'r1', { n: ++n, epoch, events: ['1'] })
      },
    ],
    [
      'looks for answers to a running request',
      async (sid) => {
        const epoch = await openStream(store, sid, 'r1')
        return () => streams.answers(sid, 'r1', epoch)
      },
    ],
    [
      'reads of a running request',
      async (sid) => {
        await openStream(store, sid, 'r1')
        return () => streams.read(sid, 'r1', 1, '', 10)
      },
    ],
  ]
  const check = async ([use, begin]: (typeof uses)[0]): Promise<void> => {
    const sid = await newSession(store, { ttlMs: 800 })
    await sessions.enter(sid, '1', 10)
    const tools = { json: '"tools"', coalesce: 'tools' }
    await append(store, sid, '0', { n: 1, events: [tools] })
    const again = await begin(sid)
    for (let round = 0; round < 6; round++) {
      await pause(200)
      await again()
    }
    expectEqual(`the runner of a request in a session that ${use} keep`, await sessions.cancel(sid, '1'), store.replica.id)
    const more = await append(store, sid, '0', { n: 2, events: [tools] })
    expectEqual(`a change that is still unread in a session that ${use} keep`, more.positions, [undefined])
    expectEqual(`a notice in a session that ${use} keep`, jsonOf((await attach(store, sid, '0')).events), ['"tools"'])
  }
  await Promise.all(uses.map(check))
}

const endsWithStreams: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const epoch = await openStream(store, sid, 'r1')
  await append(store, sid, 'r1', { n: 1, epoch, events: ['1'] })
  await append(store, sid, '0', { n: 1, events: ['2'] })
  await store.sessions.end(sid)
  for (const stream of ['r1', '0']) {
    const batch = { n: 2, events: [{ json: '3' }], ...(stream === 'r1' && { epoch }) }
    expectEqual(`append to stream ${stream} of an ended session`, await store.streams.append(sid, stream, batch, BOUNDS), 'gone')
    expectEqual(`attach to stream ${stream} of an ended session`, await store.streams.attach(sid, stream, undefined, 1), 'gone')
  }
  expectEqual('open in an ended session', await store.streams.open(sid, 'r2', '{}'), 'gone')
}

/** A look does not count as use, and a session in use is not ended. */
const endsIdleSessions: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const look = async (): Promise<unknown> => {
    const [looked] = await b.sessions.idle([sid])
    return looked === 'gone' ? 'gone' : looked?.idleMs === undefined ? 'in use' : 'idle'
  }
  expectEqual('sessions that do not exist', await a.sessions.idle([randomId(), randomId()]), ['gone', 'gone'])
  expectEqual('endIdle of a session that does not exist', await a.sessions.endIdle(randomId(), 0), false)
  await a.sessions.enter(sid, '1', 10)
  expectEqual('a session with a request', [await look(), await b.sessions.endIdle(sid, 0)], ['in use', false])
  await a.sessions.leave(sid, '1')
  expectEqual('a session whose request is over', await look(), 'idle')
  const epoch = await openStream(a, sid, 'r1')
  expectEqual('a session with an open stream', [await look(), await b.sessions.endIdle(sid, 0)], ['in use', false])
  await append(a, sid, 'r1', { n: 1, epoch, events: ['1'], isLast: true })
  expectEqual('a session whose stream has ended', await look(), 'idle')
  const reader = await a.streams.attach(sid, '0', undefined, 1)
  expectEqual('a session that a client listens to', [await look(), await b.sessions.endIdle(sid, 0)], ['in use', false])
  if (typeof reader === 'object') await a.streams.detach(sid, '0', reader.reader)
  expectEqual('a session that a client listens to no longer', await look(), 'idle')
  await pause(150)
  const [before] = await b.sessions.idle([sid])
  const [after] = await a.sessions.idle([sid])
  const idleMs = [before, after].map((each) => (typeof each === 'object' ? (each.idleMs ?? -1) : -1)) as [number, number]
  expectTrue(`idle for at least 100 ms, and a look changes nothing: ${idleMs.join(', ')}`, idleMs[0] >= 100 && idleMs[1] >= idleMs[0])
  expectEqual('a session that was used since', await a.sessions.endIdle(sid, idleMs[1] + 60_000), false)
  const ended = await Promise.all([a.sessions.endIdle(sid, 100), b.sessions.endIdle(sid, 100)])
  expectEqual('two replicas that end it', ended.filter(Boolean).length, 1)
  expectEqual('a session that was idle', [await a.sessions.enter(sid, undefined, 1), await look()], ['gone', 'gone'])
  expectEqual('its stream', await a.streams.attach(sid, 'r1', undefined, 1), 'gone')
}

/** The end of its largest age says nothing about the last use of a session. */
const tellsUseOfOldSessions: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store, { ttlMs: 60_000, maxAgeMs: 5000 })
  await pause(150)
  const [looked] = await store.sessions.idle([sid])
  const idleMs = typeof looked === 'object' ? (looked.idleMs ?? -1) : -1
  expectTrue(
    `a session close to its largest age is idle since its last use: 100 to 5,000 ms, got ${idleMs}`,
    idleMs >= 100 && idleMs <= 5000,
  )
  const other = await newSession(store, { ttlMs: 60_000, maxAgeMs: 600 })
  await openStream(store, other, 'r1')
  await append(store, other, '0', { n: 1, events: ['1'] })
  await pause(700)
  const { sessions, streams } = store
  const gone = [
    await sessions.enter(other, '1', 1),
    await streams.open(other, 'r2', '{}'),
    await streams.append(other, '0', { n: 2, events: [{ json: '2' }] }, BOUNDS),
    await streams.attach(other, '0', undefined, 1),
    await streams.attach(other, 'r1', undefined, 1),
    (await sessions.idle([other]))[0],
  ]
  expectEqual(
    'uses of a session of the largest age',
    gone,
    gone.map(() => 'gone'),
  )
  const none = [await sessions.replace(other, '{}', 1), await sessions.endIdle(other, 0), await sessions.end(other)]
  expectEqual('changes of a session of the largest age', none, [false, false, false])
}

/** A replica that is gone keeps no session in use. */
const forgetsUseOfTheDead: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(b)
  await a.sessions.enter(sid, '1', 10)
  await a.streams.attach(sid, '0', undefined, 1)
  await a.close()
  expectEqual('a session that only a replica that left has used', await b.sessions.endIdle(sid, 0), true)
}

export const sessionChecks: StoreCheck[] = [
  keepsRecords,
  comparesRevisions,
  registersRequests,
  forgetsRequestsOfTheDead,
  keepsCancellations,
  repeatsTakeovers,
  freesPlacesOfTheDead,
  keepsCancellationsWhenFull,
  expires,
  keepsAllInUse,
  endsWithStreams,
  endsIdleSessions,
  tellsUseOfOldSessions,
  forgetsUseOfTheDead,
]
