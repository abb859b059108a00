/** The rules of replicas: messages, death and takeover. */

import type { DeadReplica, StoreMessage } from '../../store/replica.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import {
  append,
  attach,
  BOUNDS,
  expectEqual,
  expectTrue,
  inboxOf,
  jsonOf,
  MESSAGE_MS,
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
  const own: StoreMessage[] = []
  a.replica.listen((message) => own.push(message))
  for (let at = 0; at < 20; at++) expectEqual('send', await a.replica.send(b.replica.id, `{"at":${at}}`), true)
  for (let at = 0; at < 20; at++)
    expectEqual('a message, in order', await inboxes.b.next('message'), { kind: 'message', json: `{"at":${at}}` })
  await a.replica.broadcast('{"to":"all"}')
  for (const inbox of [inboxes.b, inboxes.c])
    expectEqual('a message to all', await inbox.next('message'), { kind: 'message', json: '{"to":"all"}' })
  expectEqual('messages to all that the sender got', own, [])
  const { id } = c.replica
  await c.close()
  expectEqual('send to a replica that left', await a.replica.send(id, '{}'), false)
  expectEqual('send to an unknown replica', await a.replica.send('nobody', '{}'), false)
}

/** Lets stores claim dead replicas at the same time, until at least one of them gets this one. Returns what each of those gets. */
async function claimsOf(stores: readonly SharedStore[], replica: string): Promise<DeadReplica['streams'][]> {
  const end = Date.now() + Math.max(...stores.map((store) => store.replica.leaseMs)) + MESSAGE_MS
  while (Date.now() < end) {
    const claimed = await Promise.all(stores.map(async (store) => ({ store, dead: await store.replica.claimDead() })))
    const found = claimed.flatMap(({ dead }) => (dead?.replica === replica ? [dead.streams] : []))
    if (found.length > 0) return found
    // A replica of another check: take its streams, so that the next one is found.
    for (const { store, dead } of claimed)
      for (const { sid, stream } of dead?.streams ?? []) await store.streams.takeOver(sid, stream, dead?.replica ?? '')
    if (claimed.every(({ dead }) => !dead)) await pause(20)
  }
  throw new Error('SharedStore, claimDead: expected a replica that left a stream, got nothing')
}

async function leftBy(store: SharedStore, replica: string): Promise<DeadReplica['streams']> {
  return (await claimsOf([store], replica)).flat()
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
  expectTrue(`the epoch after a takeover is higher than ${epoch}, got ${taken?.epoch}`, taken !== undefined && taken.epoch > epoch)
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

/** Of several replicas, one looks after one that is dead. */
const claimsOnce: StoreCheck = async (open) => {
  const [a, b, c] = [await open(), await open(), await open()]
  const sid = await newSession(a)
  await openStream(a, sid, 'r1')
  const from = a.replica.id
  await a.close()
  expectEqual('replicas that claimed one that left', (await claimsOf([b, c], from)).length, 1)
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

/** The lease of a replica that says nothing ends, and it learns that before others may take over. */
const endsLeases: StoreCheck = async (open, { silence }) => {
  if (!silence) return
  const [a, b] = [await open(), await open()]
  await b.replica.join()
  const { leaseMs } = b.replica
  const sid = await newSession(a)
  const inbox = await inboxOf(a)
  const from = a.replica.id
  await a.sessions.enter(sid, '1', 10)
  const epoch = await openStream(a, sid, 'r1')
  await append(a, sid, 'r1', { n: 1, epoch, events: ['1'] })
  await pause(Math.min(1.5 * leaseMs, 2000))
  expectEqual('isHeld of a replica that lives, after a lease', a.replica.isHeld, true)
  expectEqual('takeover of a request of a replica that lives', await b.sessions.enter(sid, '1', 10, true), 'duplicate')
  const goOn = silence(a)
  const left = await leftBy(b, from)
  expectEqual('isHeld of a silent replica when others claim what it ran', a.replica.isHeld, false)
  expectEqual('the streams of a silent replica', left, [{ sid, stream: 'r1' }])
  expectEqual('the message to a replica whose lease has ended', (await inbox.next('lost')).kind, 'lost')
  const taken = await b.streams.takeOver(sid, 'r1', from)
  expectTrue('takeOver from a silent replica', taken !== undefined)
  expectTrue('takeover of its request', typeof (await b.sessions.enter(sid, '1', 10, true)) === 'object')
  await append(b, sid, 'r1', { n: 1, epoch: taken?.epoch ?? 0, events: ['2'], isLast: true })
  if (!goOn) return
  goOn()
  expectEqual('the message to a replica that has joined again', (await inbox.next('missed', leaseMs + MESSAGE_MS)).kind, 'missed')
  expectTrue('a replica that has joined again has another id', a.replica.isHeld && a.replica.id !== from)
  const late = { n: 2, epoch, events: [{ json: '"late"' }] }
  expectEqual('append by a replica that was silent', await a.streams.append(sid, 'r1', late, BOUNDS), 'fenced')
  expectEqual('all events', jsonOf((await attach(a, sid, 'r1', '')).events), ['1', '2'])
}

export const replicaChecks: StoreCheck[] = [
  carriesMessages,
  takesOver,
  claimsOnce,
  takesOverOnce,
  tellsResentFromFenced,
  findsStreamsOfTheTriedAgain,
  forgetsStreamsThatAreGone,
  endsLeases,
]
