/** Rounds of stateless calls that replicas share: continued anywhere, and not run again when they are repeated. */

import { describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../../../src/base/clock.ts'
import { McpError } from '../../../../src/protocol/errors.ts'
import { type Context, keyRing, type Server } from '../../../../src/server/index.ts'
import type { SharedStore } from '../../../../src/store/index.ts'
import type { HttpAnswer } from '../../../support/http-requests.ts'
import { httpStream } from '../../../support/http-requests.ts'
import { askModern, byHeader, callTool, type Gate, gate, modern, serve, testServer, until } from '../../../support/http-service.ts'
import type { Message } from '../../../support/raw-channel.ts'
import { redisOfFile } from '../../../support/redis-server.ts'
import { serveReplicas, storesInMemory } from '../../../support/replicas.ts'
import { storesInRedis } from '../../../support/stores-in-redis.ts'

const redisServer = redisOfFile()
const keys = keyRing('a secret of all replicas, long enough')

const STORES: [string, (count: number) => Promise<SharedStore[]>][] = [
  ['memory', async (count) => storesInMemory(count)],
  ['Redis', storesInRedis(redisServer)],
]

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const CAN_ASK = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } }
const ANSWERS = { name: { action: 'accept', content: { name: 'Ada' } } }
const TOOL = callTool('order', {}, CAN_ASK)

const resultOf = ({ message }: HttpAnswer): Message => (message as Message).result as Message
const nextRound = (asked: HttpAnswer, inputResponses: Message = ANSWERS) =>
  callTool('order', {}, { ...CAN_ASK, requestState: resultOf(asked).requestState, inputResponses })
const answerOf = (name: string): Message => ({ name: { action: 'accept', content: { name } } })

/** Asks for a name, then runs a step, waits for `go` and ends. `did` gets the step and the end, each with its replica. */
function orderTool(did: string[], go: Promise<void> = Promise.resolve(), clock?: Clock): (replica: number) => Server {
  return (replica) => {
    const own = testServer({ keys, ...(clock && { clock }) })
    own.tool('order', {}, async (_args, ctx) => {
      const before = await ctx.once('before', () => did.push(`before at ${replica}`))
      const { name } = await ctx.elicit('name', 'Your name?', NAME)
      const step = await ctx.once('step', () => did.push(`step at ${replica}`))
      await ctx.progress(1)
      await Promise.race([go, new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))])
      did.push(`end at ${replica}`)
      return `${name} ${before} ${step}`
    })
    return own
  }
}

/** A replica whose process is stopped for longer than it holds a round: time passes, and the store forgets that it has the round. */
function stoppedReplica(store: SharedStore): {
  store: SharedStore
  clock: Clock
  isStopped: Promise<void>
  stop(): Promise<void>
  /** Stops after it has taken the round and found no outcome. It goes on when the gate opens. */
  beforeItRuns(): Gate
  /** Stops after its round has ended, before the store hears so. */
  beforeItReleases(): Gate
} {
  let passedMs = 0
  let runner: [key: string, token: string] | undefined
  let [goOn, release]: (Gate | undefined)[] = []
  const stopped = gate()
  const stop = async (): Promise<void> => {
    passedMs += 11_000
    if (runner) await store.counters.unlock(...runner)
    stopped.open()
  }
  const counters: SharedStore['counters'] = {
    ...bound(store.counters),
    lock: async (key, ttlMs) => {
      const token = await store.counters.lock(key, ttlMs)
      if (token !== undefined) runner = [key, token]
      return token
    },
    unlock: async (key, token) => {
      const held = release
      if (held) await stop()
      await held?.opened
      return store.counters.unlock(key, token)
    },
    kept: async (key) => {
      const value = await store.counters.kept(key)
      const held = goOn
      if (!key.startsWith('round ') || !held) return value
      goOn = undefined
      await stop()
      await held.opened
      return value
    },
  }
  return {
    store: { ...store, counters },
    clock: { ...systemClock, now: () => systemClock.now() + passedMs },
    isStopped: stopped.opened,
    stop,
    beforeItRuns: () => {
      goOn = gate()
      return goOn
    },
    beforeItReleases: () => {
      release = gate()
      return release
    },
  }
}

/** All methods of an object, also those of its class. */
function bound(counters: SharedStore['counters']): SharedStore['counters'] {
  return new Proxy(counters, {
    get: (target, name) => (target as unknown as Record<string | symbol, () => unknown>)[name]?.bind(target),
    ownKeys: () => ['take', 'hold', 'first', 'lock', 'extend', 'unlock', 'keep', 'kept', 'put', 'forget'],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  })
}

describe.each(STORES)('with a store in %s', (_name, storesOf) => {
  test('a repeated round returns the outcome of the first, at every replica, and runs the handler once', async () => {
    const did: string[] = []
    const go = gate()
    const { urls } = await serveReplicas(orderTool(did, go.opened), { stores: await storesOf(3) })
    const asked = await askModern(urls[0] as string, TOOL)
    expect(resultOf(asked).resultType).toBe('input_required')
    const first = askModern(urls[1] as string, nextRound(asked))
    await until(() => did.includes('step at 1'))
    // The others wait for it.
    const others = urls.map((url, id) => askModern(url, { ...nextRound(asked), id: `other ${id}` }))
    go.open()
    // A member that means nothing does not make it another round.
    const round = nextRound(asked)
    const later = await askModern(urls[2] as string, { ...round, params: { ...round.params, junk: 1 } })
    const all = [await first, ...(await Promise.all(others)), later]
    expect(all.map((answer) => resultOf(answer).content)).toEqual(Array(5).fill([{ type: 'text', text: 'Ada 1 2' }]))
    expect(did).toEqual(['before at 0', 'step at 1', 'end at 1'])
  })

  test('an answer that no question asked for, or to an answered question, does not make another round', async () => {
    let runs = 0
    const { urls } = await serveReplicas(
      () => {
        const own = testServer({ keys })
        own.tool('order', {}, async (_args, ctx) => {
          const { name } = await ctx.elicit('name', 'Your name?', NAME)
          const { name: friend } = await ctx.elicit('friend', 'The name of a friend?', NAME)
          return `${name} ${friend} ${++runs}`
        })
        return own
      },
      { stores: await storesOf(3) },
    )
    const answer = (name: string): Message => ({ action: 'accept', content: { name } })
    const next = (asked: HttpAnswer, inputResponses: Message) =>
      callTool('order', {}, { ...CAN_ASK, requestState: resultOf(asked).requestState, inputResponses })
    const first = await askModern(urls[0] as string, TOOL)
    const second = await askModern(urls[1] as string, next(first, { name: answer('Ada') }))
    for (const more of [{}, { nobody: answer('Eve') }, { name: answer('Eve') }, { name: answer('Mallory'), __proto__: 1, '0': 'text' }]) {
      const answered = await askModern(urls[runs % 3] as string, next(second, { friend: answer('Bob'), ...more }))
      expect(resultOf(answered).content).toEqual([{ type: 'text', text: 'Ada Bob 1' }])
    }
    // Not the same answer to the open question: another round.
    expect(resultOf(await askModern(urls[0] as string, next(second, { friend: answer('Cy') }))).content).toMatchObject([
      { text: 'Ada Cy 2' },
    ])
  })

  test('a process that was stopped after it took a round does not run it when another has', async () => {
    const did: string[] = []
    const stores = await storesOf(3)
    const stopped = stoppedReplica(stores[1] as SharedStore)
    stores[1] = stopped.store
    const { urls } = await serveReplicas((replica) => orderTool(did, undefined, replica === 1 ? stopped.clock : undefined)(replica), {
      stores,
    })
    const asked = await askModern(urls[0] as string, TOOL)
    const went = stopped.beforeItRuns()
    const first = askModern(urls[1] as string, nextRound(asked))
    await stopped.isStopped
    expect(resultOf(await askModern(urls[2] as string, nextRound(asked))).content).toMatchObject([{ text: 'Ada 1 2' }])
    went.open()
    expect(resultOf(await first).content).toMatchObject([{ text: 'Ada 1 2' }])
    expect(did).toEqual(['before at 0', 'step at 2', 'end at 2'])
  })

  test('a process that was stopped while it released a round does not release that of another', async () => {
    const did: string[] = []
    const end = gate()
    const stores = await storesOf(3)
    const stopped = stoppedReplica(stores[1] as SharedStore)
    stores[1] = stopped.store
    const { urls } = await serveReplicas(
      (replica) => {
        const own = testServer({ keys })
        own.tool('order', {}, async (_args, ctx) => {
          const { name } = await ctx.elicit('name', 'Your name?', NAME)
          did.push(`began at ${replica}`)
          if (replica === 2) await end.opened
          did.push(`end at ${replica}`)
          return name
        })
        return own
      },
      { stores },
    )
    const asked = await askModern(urls[0] as string, TOOL)
    const sendTo = (replica: number, name: string): Promise<HttpAnswer> =>
      askModern(urls[replica] as string, nextRound(asked, answerOf(name)))
    const goOn = stopped.beforeItReleases()
    expect((await sendTo(1, 'Ada')).status).toBe(200)
    await stopped.isStopped
    const second = sendTo(2, 'Bob')
    await until(() => did.includes('began at 2'))
    goOn.open()
    const third = sendTo(0, 'Cy')
    // It must have had the time to begin.
    await new Promise((resolve) => setTimeout(resolve, 200))
    end.open()
    expect([(await second).status, (await third).status]).toEqual([200, 200])
    expect(did).toEqual([1, 2, 0].flatMap((replica) => [`began at ${replica}`, `end at ${replica}`]))
  })

  /** Asks at the first replica, begins the round at the second, and stops that one while its handler runs. */
  async function stoppedInRound(handler: (replica: number, ctx: Context) => Promise<string>) {
    const did: string[] = []
    const stores = await storesOf(3)
    const stopped = stoppedReplica(stores[1] as SharedStore)
    stores[1] = stopped.store
    const { urls } = await serveReplicas(
      (replica) => {
        const own = testServer({ keys, ...(replica === 1 && { clock: stopped.clock }) })
        own.tool('order', {}, async (_args, ctx) => {
          await ctx.elicit('name', 'Your name?', NAME)
          did.push(`began at ${replica}`)
          return handler(replica, ctx)
        })
        return own
      },
      { stores },
    )
    const asked = await askModern(urls[0] as string, TOOL)
    const sendTo = (replica: number) => askModern(urls[replica] as string, nextRound(asked))
    const first = sendTo(1)
    await until(() => did.includes('began at 1'))
    await stopped.stop()
    return { did, sendTo, first }
  }

  test('a handler that was stopped is aborted, runs no more steps, and its outcome does not count', async () => {
    const go = gate()
    const more: string[] = []
    const { sendTo, first } = await stoppedInRound(async (replica, ctx) => {
      if (replica === 1) await go.opened
      try {
        await ctx.once(`step ${replica}`, () => more.push(`step at ${replica}`))
      } finally {
        if (ctx.signal.aborted) more.push(`aborted at ${replica}`)
      }
      return `${replica}`
    })
    expect(resultOf(await sendTo(2)).content).toMatchObject([{ text: '2' }])
    go.open()
    // The outcome of the one that has the round counts.
    expect(resultOf(await first).content).toMatchObject([{ text: '2' }])
    expect(more).toEqual(['step at 2', 'aborted at 1'])
  })

  test('a stopped process fails its round while another one runs it, and the client may send it again', async () => {
    const [goOn, end] = [gate(), gate()]
    const { did, sendTo, first } = await stoppedInRound(async (replica) => {
      await (replica === 1 ? goOn : end).opened
      return `${replica}`
    })
    const second = sendTo(2)
    await until(() => did.includes('began at 2'))
    goOn.open()
    expect((await first).message).toMatchObject({ error: { data: { reason: 'store_down' } } })
    end.open()
    expect(resultOf(await second).content).toMatchObject([{ text: '2' }])
    expect(resultOf(await sendTo(1)).content).toMatchObject([{ text: '2' }])
  })

  test('a round that its client broke off runs again, and not the steps that it had finished', async () => {
    const did: string[] = []
    const go = gate()
    const { urls } = await serveReplicas(orderTool(did, go.opened), { stores: await storesOf(3) })
    const asked = await askModern(urls[0] as string, TOOL)
    const round = nextRound(asked)
    const watched = { ...round, params: { ...round.params, _meta: { ...CAN_ASK._meta, progressToken: 'p' } } }
    const broken = await httpStream(urls[1] as string, modern(watched))
    await broken.message()
    broken.destroy()
    const second = askModern(urls[2] as string, round)
    go.open()
    expect(resultOf(await second).content).toEqual([{ type: 'text', text: 'Ada 1 2' }])
    expect(did.filter((what) => what.startsWith('step'))).toEqual(['step at 1'])
  })

  test('rounds of one call with different answers run one after the other, and share their steps', async () => {
    const did: string[] = []
    const go = gate()
    const { urls } = await serveReplicas(
      (replica) => {
        const own = testServer({ keys })
        own.tool('order', {}, async (_args, ctx) => {
          const { name } = await ctx.elicit('name', 'Your name?', NAME)
          did.push(`began at ${replica}`)
          const step = await ctx.once('step', async () => {
            const number = did.push(`step at ${replica}`)
            await go.opened
            return number
          })
          return `${name} ${step}`
        })
        return own
      },
      { stores: await storesOf(3) },
    )
    const asked = await askModern(urls[0] as string, TOOL)
    const first = askModern(urls[0] as string, nextRound(asked, answerOf('Ada')))
    await until(() => did.includes('step at 0'))
    const others = ['Bob', 'Cy'].map((name, i) => askModern(urls[i + 1] as string, nextRound(asked, answerOf(name))))
    // They must have had the time to begin.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(did).toEqual(['began at 0', 'step at 0'])
    go.open()
    const texts = (await Promise.all([first, ...others])).map((answer) => resultOf(answer).content)
    expect(texts).toEqual(['Ada 2', 'Bob 2', 'Cy 2'].map((text) => [{ type: 'text', text }]))
    expect(did.filter((what) => what.startsWith('step'))).toEqual(['step at 0'])
    expect(resultOf(await askModern(urls[2] as string, nextRound(asked, answerOf('Ada')))).content).toEqual(texts[0])
    expect(did).toHaveLength(4)
  })

  test('after the time limit of a handler its running step ends before the next round, and no other begins', async () => {
    const did: string[] = []
    const [charged, late] = [gate(), gate()]
    const { urls } = await serveReplicas(
      (replica) => {
        const own = testServer({ keys })
        own.tool('order', { timeoutMs: replica === 1 ? 300 : 30_000 }, async (_args, ctx) => {
          await ctx.elicit('name', 'Your name?', NAME)
          const charge = await ctx.once('charge', async () => {
            did.push(`charge begins at ${replica}`)
            if (replica === 1) await charged.opened
            did.push(`charge ends at ${replica}`)
            return replica
          })
          if (replica === 1) await late.opened
          await ctx.once(`mail ${replica}`, () => did.push(`mail at ${replica}`)).catch(() => did.push(`no mail at ${replica}`))
          return `charged at ${charge}`
        })
        return own
      },
      { stores: await storesOf(3) },
    )
    const asked = await askModern(urls[0] as string, TOOL)
    expect((await askModern(urls[1] as string, nextRound(asked))).message.error?.message).toContain('took longer than 300 ms')
    const second = askModern(urls[2] as string, nextRound(asked))
    // It must have had the time to begin.
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(did).toEqual(['charge begins at 1'])
    charged.open()
    expect(resultOf(await second).content).toEqual([{ type: 'text', text: 'charged at 1' }])
    late.open()
    await until(() => did.includes('no mail at 1'))
    expect(did).toEqual(['charge begins at 1', 'charge ends at 1', 'mail at 2', 'no mail at 1'])
  })

  test('a round does not wait for ever for a step that never ends', async () => {
    const { urls } = await serveReplicas(
      () => {
        const own = testServer({ keys, limits: { handlerTimeoutMs: 400 } })
        own.tool('order', {}, async (_args, ctx) => {
          await ctx.elicit('name', 'Your name?', NAME)
          await ctx.once('charge', () => new Promise(() => {}))
        })
        return own
      },
      { stores: await storesOf(2), count: 2 },
    )
    const asked = await askModern(urls[0] as string, TOOL)
    await askModern(urls[0] as string, nextRound(asked))
    const { error } = (await askModern(urls[1] as string, nextRound(asked))).message
    expect(error).toMatchObject({ message: expect.stringContaining('still runs after 400 ms'), data: { retryable: true } })
  })

  test('a round whose outcome cannot be looked up does not keep the next one waiting', async () => {
    const did: string[] = []
    const stores = await storesOf(2)
    const [, { counters }] = stores as [SharedStore, SharedStore]
    let isAway = true
    const kept = async (key: string): Promise<string | undefined> => {
      if (isAway && key.startsWith('round ')) throw new McpError('ERR_STORE_DOWN', 'The store is away')
      return counters.kept(key)
    }
    stores[1] = { ...(stores[1] as SharedStore), counters: { ...bound(counters), kept } }
    const { urls } = await serveReplicas(orderTool(did), { stores })
    const asked = await askModern(urls[0] as string, TOOL)
    expect((await askModern(urls[1] as string, nextRound(asked))).message).toMatchObject({ error: { data: { reason: 'store_down' } } })
    isAway = false
    const started = performance.now()
    expect(resultOf(await askModern(urls[0] as string, nextRound(asked))).content).toMatchObject([{ text: 'Ada 1 2' }])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  test('other answers are another round, and the round of one caller is not that of another', async () => {
    const did: string[] = []
    const { urls } = await serveReplicas(orderTool(did), { stores: await storesOf(3), authenticate: byHeader })
    const ada = { 'x-user': 'ada' }
    const asked = await askModern(urls[0] as string, TOOL, ada)
    expect(resultOf(await askModern(urls[1] as string, nextRound(asked), ada)).content).toMatchObject([{ text: 'Ada 1 2' }])
    const other = nextRound(asked)
    const bob = { ...other, params: { ...other.params, inputResponses: { name: { action: 'accept', content: { name: 'Bob' } } } } }
    expect(resultOf(await askModern(urls[2] as string, bob, ada)).content).toMatchObject([{ text: expect.stringMatching(/^Bob/) }])
    const stolen = await askModern(urls[1] as string, nextRound(asked), { 'x-user': 'eve' })
    expect(stolen.message).toMatchObject({ error: { message: 'Invalid or expired requestState' } })
  })
})

test('an outcome that is too large is not kept, and its round runs again', async () => {
  let runs = 0
  const { urls } = await serveReplicas(() => {
    const own = testServer({ keys })
    own.tool('order', {}, async (_args, ctx) => {
      await ctx.elicit('name', 'Your name?', NAME)
      return `${++runs}${'x'.repeat(256 * 1024)}`
    })
    return own
  })
  const asked = await askModern(urls[0] as string, TOOL)
  for (const url of urls) expect((await askModern(url, nextRound(asked))).status).toBe(200)
  expect(runs).toBe(3)
})

test('without a store a round goes on at any replica with the same keys, and a repeated one runs again', async () => {
  const did: string[] = []
  const [first, second] = await Promise.all([0, 1].map((replica) => serve(orderTool(did)(replica))))
  const asked = await askModern(first?.url as string, TOOL)
  for (let i = 0; i < 2; i++)
    expect(resultOf(await askModern(second?.url as string, nextRound(asked))).content).toMatchObject([{ type: 'text' }])
  expect(did).toEqual(['before at 0', 'step at 1', 'end at 1', 'step at 1', 'end at 1'])
})
