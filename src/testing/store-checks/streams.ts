/** The rules of the streams of a store. */

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
  positionAt,
  readOn,
  type StoreCheck,
} from './expect.ts'

const keepsOrder: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const epoch = await openStream(a, sid, 'r1')
  expectEqual('open of a stream that exists', await b.streams.open(sid, 'r1', '{}'), 'exists')
  expectEqual('open of the standing stream', await b.streams.open(sid, '0', '{}'), 'exists')
  const first = await append(a, sid, 'r1', { n: 1, epoch, events: ['1', '"ä\\u0000"', '3'] })
  expectEqual('the reader of a new stream', first.reader, a.replica.id)
  await append(a, sid, 'r1', { n: 2, epoch, events: ['4'] })
  const all = await attach(b, sid, 'r1', '')
  expectEqual('all events', jsonOf(all.events), ['1', '"ä\\u0000"', '3', '4'])
  expectEqual('the owner', all.owner, a.replica.id)
  const rest = await attach(b, sid, 'r1', positionAt(first, 1), 1)
  expectEqual('events after a position, with a limit', jsonOf(rest.events), ['3'])
  expectEqual('the end of a stream that goes on', rest.isOver, false)
  await append(a, sid, 'r1', { n: 3, epoch, events: ['5'], isLast: true })
  const last = await b.streams.read(sid, 'r1', rest.reader, positionAt(first, 2), 1)
  const { events, next } = typeof last === 'string' ? { events: [], next: undefined } : last
  expectEqual('an event before the last', last, { events, isOver: false, next: events[0]?.position })
  expectEqual('the event after the position to read on from', jsonOf((await attach(b, sid, 'r1', next)).events), ['5'])
  const over = await attach(b, sid, 'r1', positionAt(first, 2))
  expectEqual('the end', [jsonOf(over.events), over.isOver], [['4', '5'], true])
  const none = await attach(b, sid, 'r1', over.events.at(-1)?.position)
  expectEqual('after the end', [none.events, none.isOver, none.next === undefined], [[], true, true])
}

/** A reader without a position learns where it begins. */
const namesTheBeginning: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  expectEqual('the beginning of a stream without events', (await attach(a, sid, '0')).from, '')
  const { positions } = await append(a, sid, '0', { n: 1, events: ['1', '2', '3'] }, { maxEvents: 2 })
  const none = await attach(b, sid, '0', undefined, 0)
  expectEqual('the beginning of a log whose first event was dropped', [none.from, none.events], [positions[0], []])
  expectEqual('events that were not given by a reader with limit 0', jsonOf((await attach(a, sid, '0')).events), ['2', '3'])
  expectEqual('the beginning after all was given', (await attach(b, sid, '0')).from, positions[2])
  expectEqual('events after an earlier beginning', jsonOf((await attach(b, sid, '0', none.from)).events), ['2', '3'])
}

const refusesUnknownPositions: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const epoch = await openStream(store, sid, 'r1')
  const { positions } = await append(store, sid, 'r1', { n: 1, epoch, events: ['1', '2', '3', '4'] }, { maxEvents: 2 })
  const [first, second, third, fourth] = positions as [string, string, string, string]
  expectEqual('a position whose next event was dropped', await store.streams.attach(sid, 'r1', first, 10), 'lost')
  expectEqual('the start of a log whose first events were dropped', await store.streams.attach(sid, 'r1', '', 10), 'lost')
  expectEqual('the last dropped position', jsonOf((await attach(store, sid, 'r1', second)).events), ['3', '4'])
  expectEqual('a kept position', jsonOf((await attach(store, sid, 'r1', third)).events), ['4'])
  const other = await newSession(store)
  const later = await append(store, other, '0', { n: 1, events: ['x'] })
  const odds = [`${fourth}9`, '99999999999999-0', '1-99999999999999999999', 'x', '-', '+', '0-0']
  for (const odd of [...odds, positionAt(later, 0) === fourth ? 'y' : positionAt(later, 0)])
    expectEqual(`attach after ${odd}, which is no position of this stream`, await store.streams.attach(sid, 'r1', odd, 10), 'lost')
  expectEqual('attach to an unknown stream', await store.streams.attach(sid, 'r9', undefined, 10), 'gone')
  expectEqual('append to an unknown stream', await store.streams.append(sid, 'r9', { n: 1, epoch, events: [] }, BOUNDS), 'gone')
  expectEqual('append did not create it', await store.streams.attach(sid, 'r9', undefined, 10), 'gone')
}

const limitsBytes: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const epoch = await openStream(store, sid, 'r1')
  const events = Array.from({ length: 10 }, (_, at) => JSON.stringify(`${at}${'x'.repeat(1000)}`))
  const { positions } = await append(store, sid, 'r1', { n: 1, epoch, events }, { maxBytes: 5000 })
  expectEqual('the first of 10,000 bytes in a log of 5,000', await store.streams.attach(sid, 'r1', positions[0], 10), 'lost')
  const kept = await attach(store, sid, 'r1')
  expectTrue(`kept events: at least 2 and at most 5, got ${kept.events.length}`, kept.events.length >= 2 && kept.events.length <= 5)
  expectEqual('the last event', kept.events.at(-1)?.json, events.at(-1))
}

/** A batch that is sent again is added once, also when it arrives late. */
const addsBatchesOnce: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const epoch = await openStream(a, sid, 'r1')
  for (const [stream, batch] of [
    ['r1', { epoch }],
    ['0', {}],
  ] as const) {
    const first = await append(a, sid, stream, { n: 7, ...batch, events: ['1', '2'] })
    const again = await append(a, sid, stream, { n: 7, ...batch, events: ['1', '2'] })
    expectEqual('positions of a batch that is sent again', again.positions, first.positions)
    await append(a, sid, stream, { n: 8, ...batch, events: ['3'] })
    const late = await a.streams.append(sid, stream, { n: 7, ...batch, events: [{ json: '1' }, { json: '2' }] }, BOUNDS)
    expectEqual('a batch that arrives after the next one', late, 'fenced')
    const { events } = await attach(b, sid, stream, '')
    expectEqual('events of batches that were sent again', jsonOf(events), ['1', '2', '3'])
  }
  const last = { n: 9, epoch, events: ['4'], isLast: true }
  const { positions } = await append(a, sid, 'r1', last)
  expectEqual('positions of the last batch that is sent again', (await append(a, sid, 'r1', last)).positions, positions)
  await Promise.all([a, b].map((store) => append(store, sid, '0', { n: 9, events: [JSON.stringify(store.replica.id)] })))
  const both = jsonOf((await attach(b, sid, '0', '')).events).slice(3)
  expectEqual('batches of two producers', both.sort(), [a, b].map((store) => JSON.stringify(store.replica.id)).sort())
}

/** A reply may be lost while many other replicas add to the same stream. */
const addsBatchesOnceAmongOthers: StoreCheck = async (open) => {
  const a = await open()
  const sid = await newSession(a)
  const batch = { n: 1, events: ['"mine"'] }
  const { positions } = await append(a, sid, '0', batch)
  for (let other = 0; other < 9; other++) await append(await open(), sid, '0', { n: 1, events: [String(other)] })
  expectEqual('positions of a batch that is sent again after those of 9 others', (await append(a, sid, '0', batch)).positions, positions)
}

const coalesces: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const tools = { json: '"tools"', coalesce: 'tools' }
  const other = { json: '"other"', coalesce: 'resource x' }
  const first = await append(a, sid, '0', { n: 1, events: [tools, other, tools] })
  expectEqual('which events were added', first.positions.map(Boolean), [true, true, false])
  expectEqual('the same batch again', (await append(a, sid, '0', { n: 1, events: [tools, other, tools] })).positions, first.positions)
  expectEqual('an unread event of another replica', (await append(b, sid, '0', { n: 1, events: [tools] })).positions, [undefined])
  const { events, reader } = await attach(b, sid, '0')
  expectEqual('events of the standing stream', jsonOf(events), ['"tools"', '"other"'])
  const second = await append(a, sid, '0', { n: 2, events: [tools] })
  expectEqual('the same change after it was read', second.positions.map(Boolean), [true])
  expectEqual('the next read', jsonOf(await readOn(b, sid, '0', reader, positionAt(first, 1))), ['"tools"'])
  expectEqual('a second attach without a position', (await attach(a, sid, '0')).events, [])
}

/** A change that the client has not read is not lost, however much is added after it. */
const keepsUnreadChanges: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const tools = { json: '"tools"', coalesce: 'tools' }
  const other = { json: '"other"', coalesce: 'resource x' }
  const bounds = { maxEvents: 3 }
  const readHere = async () => jsonOf((await attach(b, sid, '0')).events)
  await append(a, sid, '0', { n: 1, events: [tools, '1', '2'] }, bounds)
  await append(a, sid, '0', { n: 2, events: ['3'] }, bounds)
  const again = await append(a, sid, '0', { n: 3, events: [tools] }, bounds)
  expectEqual('a change that is still unread', again.positions, [undefined])
  expectEqual('events of a full log with a change', await readHere(), ['2', '3', '"tools"'])
  await append(a, sid, '0', { n: 4, events: ['4', '5', '6', '7'] }, bounds)
  expectEqual('events after a change that was read', await readHere(), ['5', '6', '7'])
  for (const n of [5, 6, 7])
    await append(a, sid, '0', { n, events: [tools, other, { json: '"third"', coalesce: `resource ${n}` }, '8'] }, bounds)
  expectEqual('the events of a log full of changes', (await readHere()).length, 3)
  const told = await append(a, sid, '0', { n: 8, events: [tools, other] }, bounds)
  expectEqual('changes after a log that was full of changes', told.positions.map(Boolean), [true, true])
  expectEqual('the same after a read', await readHere(), ['"tools"', '"other"'])
}

/** What a client reads of a request says nothing about the standing stream. */
const keepsUnreadChangesApart: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const tools = { json: '"tools"', coalesce: 'tools' }
  await append(a, sid, '0', { n: 1, events: [tools] })
  const epoch = await openStream(a, sid, 'r1')
  await append(a, sid, 'r1', { n: 2, epoch, events: ['1'] })
  const { reader } = await attach(b, sid, 'r1', '')
  await readOn(b, sid, 'r1', reader, '')
  const again = await append(a, sid, '0', { n: 3, events: [tools] })
  expectEqual('an unread change after a read of another stream', again.positions, [undefined])
}

const newestReaderWins: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const inbox = await inboxOf(a)
  const old = await attach(a, sid, '0')
  const now = await attach(b, sid, '0')
  expectEqual('the message to the reader before', await inbox.next('superseded'), {
    kind: 'superseded',
    sid,
    stream: '0',
    reader: now.reader,
  })
  const { reader, positions } = await append(a, sid, '0', { n: 1, events: ['1'] })
  expectEqual('the reader', reader, b.replica.id)
  expectEqual('a read by the reader before', await a.streams.read(sid, '0', old.reader, '', 10), 'superseded')
  await a.streams.detach(sid, '0', old.reader)
  expectEqual('a read by the newest reader', jsonOf(await readOn(b, sid, '0', now.reader, '')), ['1'])
  await b.streams.detach(sid, '0', now.reader)
  expectEqual('the reader after detach', (await append(a, sid, '0', { n: 2, events: ['2'] })).reader, undefined)
  expectEqual('a read after detach', await b.streams.read(sid, '0', now.reader, String(positions[0]), 10), 'superseded')
}

const wakesReaders: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const inbox = await inboxOf(b)
  const epoch = await openStream(a, sid, 'r1')
  const { reader } = await attach(b, sid, 'r1', '')
  for (const n of [1, 2, 3]) await append(a, sid, 'r1', { n, epoch, events: [String(n)] })
  expectEqual('the message to the reader', await inbox.next('wake'), { kind: 'wake', sid, stream: 'r1' })
  expectEqual('events after the wake-up', jsonOf(await readOn(b, sid, 'r1', reader, '')), ['1', '2', '3'])
}

const wakesReadersAtTheEnd: StoreCheck = async (open) => {
  const [a, b] = [await open(), await open()]
  const sid = await newSession(a)
  const inbox = await inboxOf(b)
  const epoch = await openStream(a, sid, 'r1')
  await attach(b, sid, 'r1', '')
  await append(a, sid, 'r1', { n: 1, epoch, events: [], isLast: true })
  expectEqual('the message to the reader of a stream that ends', await inbox.next('wake'), { kind: 'wake', sid, stream: 'r1' })
}

const dropsEndedStreams: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  for (const stream of ['r1', 'r2', 'r3']) {
    const epoch = await openStream(store, sid, stream)
    await append(store, sid, stream, { n: 1, epoch, events: ['1'], isLast: true }, { maxEnded: 2 })
    const more = await store.streams.append(sid, stream, { n: 2, epoch, events: [{ json: '2' }] }, BOUNDS)
    expectEqual('append after the last event', more, 'fenced')
    expectEqual('record after the last event', await store.streams.record(sid, stream, epoch, 'step', '{}'), false)
  }
  expectEqual('the oldest of too many ended streams', await store.streams.attach(sid, 'r1', '', 1), 'gone')
  const short = await openStream(store, sid, 'r4')
  await append(store, sid, 'r4', { n: 1, epoch: short, events: ['1'], isLast: true }, { endedTtlMs: 150 })
  await pause(250)
  expectEqual('an ended stream after its time', await store.streams.attach(sid, 'r4', '', 1), 'gone')
  expectEqual('an ended stream that is kept', jsonOf((await attach(store, sid, 'r3', '')).events), ['1'])
}

/** The limit of bytes of a session is one of all its streams. */
const limitsBytesOfSessions: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const bounds = { maxSessionBytes: 5000 }
  const text = JSON.stringify('x'.repeat(1900))
  for (const stream of ['r1', 'r2']) {
    const epoch = await openStream(store, sid, stream)
    await append(store, sid, stream, { n: 1, epoch, events: [text], isLast: true }, bounds)
  }
  expectEqual('an ended stream within the limit', jsonOf((await attach(store, sid, 'r1', '')).events), [text])
  const epoch = await openStream(store, sid, 'r3')
  const held = await openStream(store, sid, 'r4')
  await append(store, sid, 'r3', { n: 1, epoch, events: [text, text] }, bounds)
  expectEqual('the ended stream that a running one displaces', await store.streams.attach(sid, 'r1', '', 1), 'gone')
  expectEqual('the last of them', await store.streams.attach(sid, 'r2', '', 1), 'gone')
  expectEqual('the stream that grows', jsonOf((await attach(store, sid, 'r3', '')).events), [text, text])
  const more = await append(store, sid, 'r4', { n: 1, epoch: held, events: [text, text, text] }, bounds)
  expectEqual('the start of a stream that grows too much', await store.streams.attach(sid, 'r4', '', 10), 'lost')
  expectEqual('its newest event', jsonOf((await attach(store, sid, 'r4', positionAt(more, 1))).events), [text])
  const rest = await append(store, sid, 'r3', { n: 2, epoch, events: ['1'] }, bounds)
  expectEqual('a stream that lost events goes on', rest.positions.map(Boolean), [true])
}

/** The limit of bytes of a session takes nothing that the client has not heard of, and the standing stream comes after those of requests. */
const keepsUnreadChangesOfFullSessions: StoreCheck = async (open) => {
  const store = await open()
  const sid = await newSession(store)
  const bounds = { maxSessionBytes: 5000 }
  const text = JSON.stringify('x'.repeat(1900))
  await append(store, sid, '0', {
    n: 1,
    events: ['1', { json: '"tools"', coalesce: 'tools' }, { json: '"other"', coalesce: 'resource x' }],
  })
  const others = [await openStream(store, sid, 'r1'), await openStream(store, sid, 'r2')] as const
  await append(store, sid, 'r1', { n: 1, epoch: others[0], events: [text, text] }, bounds)
  await append(store, sid, 'r2', { n: 1, epoch: others[1], events: [text, text] }, bounds)
  const first = await attach(store, sid, '0', undefined, 1)
  expectEqual('a notice in a session whose requests keep too much', jsonOf(first.events), ['1'])
  await append(store, sid, '0', { n: 2, events: [text, text, text] }, bounds)
  const larger = [JSON.stringify('x'.repeat(6000))]
  await append(store, sid, 'r2', { n: 2, epoch: others[1], events: larger }, bounds)
  const unread = jsonOf((await attach(store, sid, '0')).events)
  expectEqual('unread changes in a session that keeps too much', unread, ['"tools"', '"other"'])
  expectEqual('an event that is larger than the limit', jsonOf((await attach(store, sid, 'r2')).events), larger)
}

export const streamChecks: StoreCheck[] = [
  keepsOrder,
  namesTheBeginning,
  refusesUnknownPositions,
  limitsBytes,
  limitsBytesOfSessions,
  addsBatchesOnce,
  addsBatchesOnceAmongOthers,
  coalesces,
  keepsUnreadChanges,
  keepsUnreadChangesApart,
  keepsUnreadChangesOfFullSessions,
  newestReaderWins,
  wakesReaders,
  wakesReadersAtTheEnd,
  dropsEndedStreams,
]
