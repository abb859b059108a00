/** The rules of replicas: messages, death and takeover. */

import type { DeadReplica } from '../../store/replica.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import {
  append,
  attach,
  BOUNDS,
  expectEqual,
  expectTrue,
  inboxOf,
  jsonOf,
  newSession,
  openStream,
  pause,
  type StoreCheck,
} from './expect.ts'

const carriesMessages: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const inboxes = { b: await inboxOf(b), c: await inboxOf(c) }
  expectTrue('three replicas have three ids', new Set([a, b, c].map(({ replica }) => replica.id)).size === 3)
  await a.replica.join()
  for (let at = 0; at < 20; at++) expectEqual('send', await a.replica.send(b.replica.id, `{"at":${at}}`), true)
  for (let at = 0; at < 20; at++)
    expectEqual('a message, in order', await inboxes.b.next('message'), { kind: 'message', json: `{"at":${at}}` })
  await a.replica.broadcast('{"to":"all"}')
  for (const inbox of [inboxes.b, inboxes.c])
    expectEqual('a message to all', await inbox.next('message'), { kind: 'message', json: '{"to":"all"}' })
  const { id } = c.replica
  await c.close()
  expectEqual('send to a replica that left', await a.replica.send(id, '{}'), false)
  expectEqual('send to an unknown replica', await a.replica.send('nobody', '{}'), false)
}

/** Claims dead replicas until it is this one. Returns the streams that it left. */
async function leftBy(store: SharedStore, replica: string): Promise<DeadReplica['streams']> {
  const end = Date.now() + store.replica.leaseMs + 5000
  while (Date.now() < end) {
    const dead = await store.replica.claimDead()
    if (dead?.replica === replica) return dead.streams
    // A replica of another check: take its streams, so that the next one is found.
    for (const each of dead?.streams ?? []) await store.streams.takeOver(each.sid, each.stream, dead?.replica ?? '')
    if (!dead) await pause(20)
  }
  throw new Error('SharedStore, claimDead: expected a replica that left a stream, got nothing')
}

const takesOver: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const from = a.replica.id
  const epoch = await openStream(a, sid, 'r1', '{"method":"tools/call"}')
  expectEqual('the id of a replica after it joined', a.replica.id, from)
  const asked = { json: '2', question: 'q1' }
  await append(a, sid, 'r1', { n: 1, epoch, events: ['1', asked, { json: '3', question: 'q2' }] })
  expectEqual('a record', await a.streams.record(sid, 'r1', epoch, 'step', '{"done":true}'), true)
  await b.streams.answer(sid, 'r1', 'q1', '{"yes":true}')
  expectEqual('takeOver from a replica that is not the owner', await b.streams.takeOver(sid, 'r1', 'nobody'), undefined)
  const ended = await openStream(a, sid, 'r2')
  await append(a, sid, 'r2', { n: 1, epoch: ended, events: ['1'], isLast: true })
  await a.replica.leave()
  expectEqual('isHeld of a replica that left', a.replica.isHeld, false)
  await b.replica.join()
  expectEqual('the streams of a replica that left', await leftBy(b, from), [{ sid, stream: 'r1' }])
  const taken = await b.streams.takeOver(sid, 'r1', from)
  expectTrue('takeOver', taken !== undefined && taken.epoch > epoch)
  expectEqual(
    'what was taken over',
    { ...taken, epoch: 0 },
    {
      epoch: 0,
      call: '{"method":"tools/call"}',
      journal: { step: '{"done":true}' },
      answers: { q1: '{"yes":true}' },
      questions: ['q2'],
    },
  )
  expectEqual('a second takeOver', await b.streams.takeOver(sid, 'r1', from), undefined)
  expectEqual('takeOver of an ended stream', await b.streams.takeOver(sid, 'r2', from), undefined)
  const late = { events: [{ json: '"late"' }], epoch }
  expectEqual('append by the owner before', await a.streams.append(sid, 'r1', { n: 2, ...late }, BOUNDS), 'fenced')
  expectEqual('record by the owner before', await a.streams.record(sid, 'r1', epoch, 'late', '{}'), false)
  expectEqual('answers for the owner before', await a.streams.answers(sid, 'r1', epoch), 'fenced')
  const next = taken?.epoch ?? 0
  expectEqual('append with the epoch before', await b.streams.append(sid, 'r1', { n: 1, ...late }, BOUNDS), 'fenced')
  await append(b, sid, 'r1', { n: 1, epoch: next, events: ['4'], isLast: true })
  expectEqual('all events', jsonOf((await attach(b, sid, 'r1', '')).events), ['1', '2', '3', '4'])
}

/** Of several replicas, one takes over. */
const takesOverOnce: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const sid = await newSession(a)
  await openStream(a, sid, 'r1')
  const from = a.replica.id
  await a.close()
  const taken = await Promise.all([b, c, b, c].map((store) => store.streams.takeOver(sid, 'r1', from)))
  expectEqual('replicas that took one stream over', taken.filter(Boolean).length, 1)
}

/** A batch that was added before the takeover is not reported as refused. */
const tellsResentFromFenced: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const epoch = await openStream(a, sid, 'r1')
  const first = await append(a, sid, 'r1', { n: 1, epoch, events: ['1'] })
  await b.streams.takeOver(sid, 'r1', a.replica.id)
  const again = await append(a, sid, 'r1', { n: 1, epoch, events: ['1'] })
  expectEqual('a batch from before the takeover, again', again.positions, first.positions)
  expectEqual('the next batch', await a.streams.append(sid, 'r1', { n: 2, epoch, events: [{ json: '2' }] }, BOUNDS), 'fenced')
}

/** A replica that takes over or opens a stream again, which it runs already, still runs it. */
const findsStreamsOfTheTriedAgain: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const sid = await newSession(a)
  await openStream(a, sid, 'r1')
  const first = a.replica.id
  await a.close()
  const taken = await Promise.all([b, b].map((store) => store.streams.takeOver(sid, 'r1', first)))
  expectEqual('two takeovers by one replica', taken.filter(Boolean).length, 1)
  expectEqual('a third one', await b.streams.takeOver(sid, 'r1', first), undefined)
  await openStream(b, sid, 'r2')
  expectEqual('open of a stream that the same replica has opened', await b.streams.open(sid, 'r2', '{}'), 'exists')
  const second = b.replica.id
  await b.close()
  const left = await leftBy(c, second)
  expectEqual(
    'what a replica leaves that tried again',
    left
      .filter((each) => each.sid === sid)
      .map(({ stream }) => stream)
      .sort(),
    ['r1', 'r2'],
  )
  for (const stream of ['r1', 'r2']) expectTrue(`takeOver of ${stream}`, (await c.streams.takeOver(sid, stream, second)) !== undefined)
}

/** A replica that learns that a stream is gone runs it no longer. Otherwise what it leaves grows with every session that ends. */
const forgetsStreamsThatAreGone: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sids = []
  for (const learn of ['append', 'answers', 'record'] as const) {
    const sid = await newSession(a)
    const epoch = await openStream(a, sid, 'r1')
    await b.sessions.end(sid)
    if (learn === 'append') expectEqual('append', await a.streams.append(sid, 'r1', { n: 1, epoch, events: [] }, BOUNDS), 'gone')
    else if (learn === 'answers') expectEqual('answers', await a.streams.answers(sid, 'r1', epoch), 'gone')
    else expectEqual('record', await a.streams.record(sid, 'r1', epoch, 'step', '1'), false)
    sids.push(sid)
  }
  const kept = await newSession(a)
  await openStream(a, kept, 'r1')
  const from = a.replica.id
  await a.close()
  const left = (await leftBy(b, from)).map(({ sid }) => sid)
  expectEqual(
    'streams that a replica leaves, without those that are gone',
    [left.includes(kept), ...sids.map((sid) => left.includes(sid))],
    [true, false, false, false],
  )
  await b.streams.takeOver(kept, 'r1', from)
}

export const replicaChecks: StoreCheck[] = [
  carriesMessages,
  takesOver,
  takesOverOnce,
  tellsResentFromFenced,
  findsStreamsOfTheTriedAgain,
  forgetsStreamsThatAreGone,
]
