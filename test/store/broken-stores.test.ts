/** The check of a store notices stores that break a rule, and its error says which rule. */

import { expect, test } from 'vitest'
import { memoryStore, type SharedStore, type StoreMessage, type StreamLogs, type TakenOver } from '../../src/store/index.ts'
import { checkStore } from '../../src/testing/index.ts'
import { storeLine } from '../support/store-line.ts'

type Part = 'sessions' | 'streams' | 'replica' | 'topics' | 'counters'
/** Replaces a part of one replica. */
type Break = (store: SharedStore) => Partial<SharedStore>

/** A part of each replica with other members. */
const each =
  <Of extends Part>(part: Of, changes: (of: SharedStore[Of], store: SharedStore) => Partial<SharedStore[Of]>): Break =>
  (store) => ({ [part]: having(store[part], changes(store[part], store)) })

function having<Of extends object>(part: Of, changes: Partial<Of>): Of {
  return new Proxy(part, {
    get: (target, name) => {
      if (name in changes) return Reflect.get(changes, name)
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

const without = (kind: StoreMessage['kind']): Break =>
  each('replica', (of) => ({ listen: (listener) => of.listen((message) => message.kind !== kind && listener(message)) }))

/** Longer ago than a session of the check lives without use. */
const isOld = (at = performance.now()): boolean => performance.now() - at > 900

/** Appends that are refused in some streams look as if they had succeeded. */
const appendsTo = (of: StreamLogs, names: ReadonlySet<string>): StreamLogs['append'] =>
  async function append(sid, stream, batch, bounds) {
    const appended = await of.append(sid, stream, batch, bounds)
    if (appended !== 'fenced' || !names.has(`${sid} ${stream}`)) return appended
    return { positions: batch.events.map(() => 'x'), reader: undefined }
  }

/** The second function makes what all replicas of one store have in common. */
const FAULTS: [fault: string, text: string, breaking: () => Break][] = [
  [
    'a change of a record ignores the revision',
    'changes of one revision: expected 1, got ',
    () =>
      each('sessions', (of) => ({
        replace: async (sid, record, revision) => {
          if (await of.replace(sid, record, revision)) return true
          const entered = await of.enter(sid, undefined, 10)
          return typeof entered === 'object' && of.replace(sid, record, entered.revision)
        },
      })),
  ],
  [
    'two requests have one id',
    'two requests with one id: expected 1, got 0',
    () =>
      each('sessions', (of) => ({
        enter: async (sid, call, max, isTakenOver) => {
          const entered = await of.enter(sid, call, max, isTakenOver)
          return entered === 'duplicate' ? of.enter(sid, undefined, max) : entered
        },
      })),
  ],
  [
    'a session takes any number of requests',
    'one request too many: expected "full"',
    () => each('sessions', (of) => ({ enter: (sid, call, _max, isTakenOver) => of.enter(sid, call, 1000, isTakenOver) })),
  ],
  [
    'a takeover forgets a cancellation',
    'a cancelled request that is taken over: expected true, got false',
    () =>
      each('sessions', (of) => ({
        enter: async (...args) => {
          const entered = await of.enter(...args)
          return typeof entered === 'string' ? entered : { ...entered, isCancelled: false }
        },
      })),
  ],
  [
    'requests of a dead replica stay',
    'the request of a replica that left, again',
    () => {
      const runners = new Map<string, string>()
      return each('sessions', (of, { replica }) => ({
        enter: async (sid, call, max, isTakenOver) => {
          if (call === undefined) return of.enter(sid, call, max, isTakenOver)
          await replica.join()
          const name = `${sid} ${call}`
          if (runners.has(name) && runners.get(name) !== replica.id) return 'duplicate'
          runners.set(name, replica.id)
          return of.enter(sid, call, max, isTakenOver)
        },
      }))
    },
  ],
  [
    'a look at a session counts as use',
    'idle for at least 100 ms',
    () =>
      each('sessions', (of) => ({
        idle: async (sids) => {
          for (const sid of sids) await of.enter(sid, undefined, 0)
          return of.idle(sids)
        },
      })),
  ],
  [
    'a session stays without use',
    'a session without use: expected "gone"',
    () => each('sessions', (of) => ({ create: (sid, record, life) => of.create(sid, record, { ...life, ttlMs: 60_000 }) })),
  ],
  [
    'a session has no largest age',
    'a session of the largest age: expected "gone"',
    () => each('sessions', (of) => ({ create: (sid, record, life) => of.create(sid, record, { ...life, maxAgeMs: 600_000 }) })),
  ],
  [
    'a session in use is ended as an idle one',
    'a session with a request: expected ["in use",false], got ["in use",true]',
    () => each('sessions', (of) => ({ endIdle: (sid) => of.end(sid) })),
  ],
  [
    'a request is forgotten while its session is used',
    'the runner of a request in a session that requests keep: expected "',
    () => {
      const begun = new Map<string, number>()
      return each('sessions', (of) => ({
        enter: (sid, call, ...rest) => {
          if (call !== undefined) begun.set(`${sid} ${call}`, performance.now())
          return of.enter(sid, call, ...rest)
        },
        cancel: async (sid, call) => (isOld(begun.get(`${sid} ${call}`)) ? undefined : of.cancel(sid, call)),
      }))
    },
  ],
  [
    'a notice is forgotten while its session is used',
    'a notice in a session that requests keep: expected ["\\"tools\\""], got []',
    () => {
      const added = new Map<string, number>()
      return each('streams', (of) => ({
        append: (sid, ...rest) => {
          if (!added.has(sid)) added.set(sid, performance.now())
          return of.append(sid, ...rest)
        },
        attach: async (sid, ...rest) => {
          const attached = await of.attach(sid, ...rest)
          return typeof attached === 'object' && isOld(added.get(sid)) ? { ...attached, events: [] } : attached
        },
      }))
    },
  ],
  [
    'a batch that is sent again is added again',
    'positions of a batch that is sent again',
    () => {
      let n = 0
      return each('streams', (of) => ({ append: (sid, stream, batch, bounds) => of.append(sid, stream, { ...batch, n: ++n }, bounds) }))
    },
  ],
  [
    'a last batch that is sent again is refused',
    'append: expected positions, got fenced',
    () => {
      const ended = new Set<string>()
      return each('streams', (of) => ({
        append: async (sid, stream, batch, bounds) => {
          if (ended.has(`${sid} ${stream}`)) return 'fenced'
          if (batch.isLast) ended.add(`${sid} ${stream}`)
          return of.append(sid, stream, batch, bounds)
        },
      }))
    },
  ],
  [
    'a position whose events were dropped is skipped',
    'a position whose next event was dropped: expected "lost"',
    () =>
      each('streams', (of) => ({
        attach: async (sid, stream, after, limit) => {
          const read = await of.attach(sid, stream, after, limit)
          return read === 'lost' ? of.attach(sid, stream, undefined, limit) : read
        },
      })),
  ],
  [
    'a change is told again while it is unread',
    'a change that is still unread',
    () =>
      each('streams', (of) => ({
        append: (sid, stream, batch, bounds) =>
          of.append(sid, stream, { ...batch, events: batch.events.map(({ coalesce: _, ...event }) => event) }, bounds),
      })),
  ],
  [
    'a session that keeps too much forgets changes that are unread',
    'unread changes in a session that keeps too much: expected ["\\"tools\\"","\\"other\\""], got []',
    () => {
      const full = new Set<string>()
      return each('streams', (of) => ({
        append: (sid, stream, batch, bounds) => {
          if (batch.events.some(({ json }) => json.length > bounds.maxSessionBytes)) full.add(sid)
          return of.append(sid, stream, batch, bounds)
        },
        attach: async (sid, stream, ...rest) => {
          const attached = await of.attach(sid, stream, ...rest)
          return typeof attached === 'object' && stream === '0' && full.has(sid) ? { ...attached, events: [] } : attached
        },
      }))
    },
  ],
  [
    'the reader before reads on',
    'a read by the reader before: expected "superseded"',
    () =>
      each('streams', (of) => ({
        read: async (sid, stream, reader, after, limit) => {
          const read = await of.read(sid, stream, reader, after, limit)
          return read === 'superseded' ? of.attach(sid, stream, after, limit) : read
        },
      })),
  ],
  [
    'a reader that has gone stays',
    'a session that a client listens to no longer: expected "idle"',
    () => each('streams', () => ({ detach: async () => {} })),
  ],
  [
    'a stream is opened twice',
    'open of a stream that exists: expected "exists", got 1',
    () =>
      each('streams', (of) => ({
        open: async (...args) => {
          const opened = await of.open(...args)
          return opened === 'exists' ? 1 : opened
        },
      })),
  ],
  [
    'a log has no limit',
    'the beginning of a log whose first event was dropped',
    () =>
      each('streams', (of) => ({
        append: (sid, stream, batch, bounds) => of.append(sid, stream, batch, { ...bounds, maxEvents: 1000 }),
      })),
  ],
  [
    'an ended stream has no time',
    'an ended stream after its time: expected "gone"',
    () =>
      each('streams', (of) => ({
        append: (sid, stream, batch, bounds) => of.append(sid, stream, batch, { ...bounds, endedTtlMs: 60_000 }),
      })),
  ],
  [
    'a stream goes on after its end',
    'append after the last event: expected "fenced"',
    () => {
      const ended = new Set<string>()
      return each('streams', (of) => ({
        append: (sid, stream, batch, bounds) => {
          if (batch.isLast) ended.add(`${sid} ${stream}`)
          return appendsTo(of, ended)(sid, stream, batch, bounds)
        },
      }))
    },
  ],
  ['a reader is not woken', 'expected a message of kind "wake" within 5000 ms', () => without('wake')],
  ['a reader is not told that another one came', 'expected a message of kind "superseded"', () => without('superseded')],
  ['a replica is not told of an answer', 'expected a message of kind "answered"', () => without('answered')],
  [
    'each answer counts',
    'three answers at once: expected ["accepted","duplicate","duplicate"], got ["accepted","accepted","accepted"]',
    () =>
      each('streams', (of) => ({
        answer: async (...args) => {
          const outcome = await of.answer(...args)
          return outcome === 'duplicate' ? 'accepted' : outcome
        },
      })),
  ],
  [
    'the last answer replaces the first',
    'the message to the replica that asks',
    () => {
      const last = new Map<string, string>()
      return each('streams', (of) => ({
        answer: (sid, stream, question, json) => {
          last.set(question, json)
          return of.answer(sid, stream, question, json)
        },
        answers: async (...args) => {
          const answers = await of.answers(...args)
          if (typeof answers === 'string') return answers
          return Object.fromEntries(Object.keys(answers).map((question) => [question, last.get(question) ?? '']))
        },
      }))
    },
  ],
  ['a settled question stays', 'an answer after settle: expected "unknown"', () => each('streams', () => ({ settle: async () => {} }))],
  [
    'a takeover keeps the epoch',
    'the epoch after a takeover is higher than',
    () => {
      const epochs = new Map<string, number>()
      return each('streams', (of) => ({
        open: async (sid, stream, call) => {
          const epoch = await of.open(sid, stream, call)
          if (typeof epoch === 'number') epochs.set(`${sid} ${stream}`, epoch)
          return epoch
        },
        takeOver: async (sid, stream, from) => {
          const taken = await of.takeOver(sid, stream, from)
          return taken && { ...taken, epoch: epochs.get(`${sid} ${stream}`) as number }
        },
      }))
    },
  ],
  [
    'the owner before appends',
    'append by the owner before: expected "fenced"',
    () => {
      const taken = new Set<string>()
      return each('streams', (of) => ({
        takeOver: (sid, stream, from) => {
          taken.add(`${sid} ${stream}`)
          return of.takeOver(sid, stream, from)
        },
        append: appendsTo(of, taken),
      }))
    },
  ],
  [
    'a takeover loses what was recorded',
    'what was taken over: expected',
    () =>
      each('streams', (of) => ({
        takeOver: async (...args) => {
          const taken = await of.takeOver(...args)
          return taken && { ...taken, journal: {} }
        },
      })),
  ],
  [
    'two replicas take one stream over',
    'a second takeOver: expected nothing',
    () => {
      const taken = new Map<string, TakenOver>()
      return each('streams', (of) => ({
        takeOver: async (...args) => {
          const now = await of.takeOver(...args)
          if (now) taken.set(args.join(' '), now)
          return taken.get(args.join(' '))
        },
      }))
    },
  ],
  [
    'two replicas claim the same one',
    'replicas that claimed one that left: expected 1, got 2',
    () => {
      let last: Awaited<ReturnType<SharedStore['replica']['claimDead']>>
      return each('replica', (of) => ({
        claimDead: async () => {
          const dead = await of.claimDead()
          last = dead ?? last
          await Promise.resolve()
          return last
        },
      }))
    },
  ],
  [
    'a replica leaves streams that it no longer runs',
    'the streams of a replica that left: expected',
    () => {
      const opened: { sid: string; stream: string }[] = []
      return (store) => ({
        ...each('streams', (of) => ({
          open: (sid, stream, call) => {
            opened.push({ sid, stream })
            return of.open(sid, stream, call)
          },
        }))(store),
        ...each('replica', (of) => ({
          claimDead: async () => {
            const dead = await of.claimDead()
            return dead && { ...dead, streams: opened.filter(({ sid }) => dead.streams.some((left) => left.sid === sid)) }
          },
        }))(store),
      })
    },
  ],
  [
    'a replica hears its own message to all',
    'messages to all that the sender got: expected []',
    () =>
      each('replica', (of) => ({
        broadcast: async (json) => {
          await of.send(of.id, json)
          await of.broadcast(json)
        },
      })),
  ],
  [
    'messages come in another order',
    'a message, in order: expected',
    () =>
      each('replica', (of) => ({
        listen: (listener) => {
          let held: StoreMessage | undefined
          return of.listen((message) => {
            if (held) {
              listener(message)
              listener(held)
              held = undefined
            } else if (message.kind === 'message') held = message
            else listener(message)
          })
        },
      })),
  ],
  [
    'a topic has one page',
    'members at another replica: expected',
    () => each('topics', (of) => ({ page: async (...args) => ({ ...(await of.page(...args)), next: undefined }) })),
  ],
  [
    'members of a topic stay',
    'members after one has expired: expected',
    () => each('topics', (of) => ({ add: (topic, member) => of.add(topic, member, 60_000) })),
  ],
  [
    'a member that is added again expires as before',
    'members after one has expired: expected [["y"],1]',
    () => {
      const added = new Set<string>()
      return each('topics', (of) => ({
        add: async (topic, member, ttlMs) => {
          if (!added.has(`${topic} ${member}`)) await of.add(topic, member, ttlMs)
          added.add(`${topic} ${member}`)
        },
      }))
    },
  ],
  [
    'two get one lock',
    'holders of a lock: expected 1, got 3',
    () => each('counters', (of) => ({ lock: async (...args) => (await of.lock(...args)) ?? 'x' })),
  ],
  [
    'a caller gets more tokens than a burst',
    'tokens of a burst of 4: expected 4, got 5',
    () =>
      each('counters', (of) => ({
        take: (key, rate, need, most) => of.take(key, { ...rate, burst: rate.burst + 1 }, need, most),
      })),
  ],
  [
    'tokens come back too late',
    'the wait for the next token: 1 to 1,000 ms, got',
    () =>
      each('counters', (of) => ({
        take: (key, rate, need, most) => of.take(key, { ...rate, perSecond: rate.perSecond / 10 }, need, most),
      })),
  ],
  [
    'more places are given than there are',
    '4 places while another has 3 of 5: expected 2, got 4',
    () => each('counters', (of) => ({ hold: (key, holder, count, max, ttlMs) => of.hold(key, holder, count, max * 2, ttlMs) })),
  ],
  [
    'a mark is set twice',
    'callers that were first: expected 1, got 4',
    () => each('counters', (of) => ({ first: async (...args) => (await of.first(...args)) || true })),
  ],
  [
    'a value replaces the one that is kept',
    'both get the same value',
    () =>
      each('counters', (of) => ({
        keep: async (key, value, ttlMs) => {
          await of.put(key, value, ttlMs)
          return value
        },
      })),
  ],
]

/** Stores that return nothing, or something else than their types say. */
const ODD: [method: string, text: string, breaking: Break][] = [
  [
    'append',
    'streams.append: expected an object with positions, reader or "gone" or "fenced", got nothing',
    each('streams', () => none('append')),
  ],
  ['enter', 'sessions.enter: expected an object with record, revision, ', each('sessions', () => none('enter'))],
  ['take', 'counters.take: expected an object with tokens, waitMs, got nothing', each('counters', () => none('take'))],
  ['page', 'topics.page: expected an object with members, next, got {}', each('topics', () => ({ page: async () => ({}) as never }))],
  [
    'answer',
    'streams.answer: expected "accepted" or "duplicate" or "unknown", got "yes"',
    each('streams', () => ({ answer: async () => 'yes' as never })),
  ],
  [
    'claimDead',
    'replica.claimDead: expected an object with replica, streams or undefined, got []',
    each('replica', () => ({ claimDead: async () => [] as never })),
  ],
  ['sample', 'topics.sample: expected a method, got nothing', each('topics', () => ({ sample: undefined as never }))],
]

function none(name: string): Record<string, () => Promise<never>> {
  return { [name]: async () => undefined as never }
}

test.concurrent.each(ODD)('the check names what %s returns instead of what it should', async (_method, text, breaking) => {
  const store = memoryStore()
  const open = (): SharedStore => {
    const one = store.another()
    return Object.freeze({ ...one, ...breaking(one) })
  }
  await expect(checkStore(open)).rejects.toThrow(`SharedStore, ${text}`)
})

test.concurrent.each(FAULTS)('the check notices that %s', async (_fault, text, breaking) => {
  const store = memoryStore()
  const replaced = breaking()
  const open = (): SharedStore => {
    const one = store.another()
    return { ...one, ...replaced(one) }
  }
  await expect(checkStore(open)).rejects.toThrow(text)
})

const SAME = memoryStore()

test.each<[string, () => SharedStore, string]>([
  [
    'throws',
    ((memory) => () => {
      const store = memory.another()
      const add = (): Promise<void> => Promise.reject(new Error('boom'))
      return { ...store, topics: having(store.topics, { add }) }
    })(memoryStore()),
    'boom (last call: topics.add). Each call of open() must return another replica of the same store',
  ],
  ['is always the same replica', () => SAME, 'Each call of open() must return another replica'],
])('the error about a store that %s names the last call', async (_what, open, text) => {
  await expect(checkStore(open)).rejects.toThrow(text)
})

/** Replicas in memory, each over a line that can be cut. */
function overLines(): { open(): SharedStore; cut(store: SharedStore): undefined } {
  const memory = memoryStore()
  const cuts = new Map<SharedStore['streams'], () => void>()
  return {
    open: () => {
      const { store, cut } = storeLine(memory.another())
      cuts.set(store.streams, cut)
      return store
    },
    cut: ({ streams }) => void cuts.get(streams)?.(),
  }
}

test('a store whose replicas learn that they were cut off keeps the rules', async () => {
  const { open, cut } = overLines()
  await checkStore(open, { silence: cut })
})

test('the check notices that a replica that was cut off does not learn it', async () => {
  const { open, cut } = overLines()
  const deaf = (): SharedStore => {
    const store = open()
    let isCut = false
    store.replica.listen(({ kind }) => {
      isCut ||= kind === 'lost'
    })
    const held = new Proxy(store.replica, { get: (of, name) => (name === 'isHeld' && isCut) || Reflect.get(of, name) })
    return { ...store, replica: held }
  }
  const text = 'isHeld of a silent replica when others claim what it ran: expected false, got true'
  await expect(checkStore(deaf, { silence: cut })).rejects.toThrow(text)
})
