/** Calls whose caller has given up, but which the store runs later. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryStore, remoteStore, type SharedStore, type StorePort, serveStore } from '../../src/store/index.ts'

const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }
const MIB = 1024 * 1024

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

interface StoppableLine {
  store: SharedStore
  /** What waits for the process with the store. */
  readonly held: string[]
  /** From now on the process with the store reads nothing. */
  stop(): void
  goOn(): void
}

function stoppableLine(of: SharedStore): StoppableLine {
  const held: string[] = []
  let isStopped = false
  let toServer: (text: string) => void = () => {}
  let toUser: (text: string) => void = () => {}
  serveStore(of, { send: (text) => toUser(text), listen: (onText) => (toServer = onText) } as StorePort)
  const store = remoteStore({
    send: (text) => (isStopped ? void held.push(text) : toServer(text)),
    listen: (onText) => (toUser = onText),
  } as StorePort)
  return {
    store,
    held,
    stop: () => {
      isStopped = true
    },
    goOn: () => {
      isStopped = false
      for (const text of held.splice(0)) toServer(text)
    },
  }
}

/** Makes a call that gets no answer in time. */
async function givenUp(line: StoppableLine, call: () => Promise<unknown>): Promise<void> {
  line.stop()
  const outcome = expect(call()).rejects.toMatchObject({
    code: 'ERR_STORE_DOWN',
    message: expect.stringContaining('did not answer within'),
  })
  vi.advanceTimersByTime(10_000)
  await outcome
}

test('a request that was registered too late is taken out again', async () => {
  const memory = memoryStore()
  const line = stoppableLine(memory.another())
  await memory.sessions.create('s', '{}', LIFE)
  await line.store.replica.join()
  await givenUp(line, () => line.store.sessions.enter('s', '1', 1))
  line.goOn()
  // The client sends it again.
  await expect.poll(() => line.store.sessions.enter('s', '1', 1)).toMatchObject({ record: '{}' })
})

test('a request that was taken over too late stays registered for the next attempt', async () => {
  const memory = memoryStore()
  const owner = memory.another()
  const line = stoppableLine(memory.another())
  await memory.sessions.create('s', '{}', LIFE)
  await owner.sessions.enter('s', '1', 1)
  await owner.close()
  await line.store.replica.join()
  const takeOver = () => line.store.sessions.enter('s', '1', 1, true)
  await givenUp(line, takeOver)
  const again = takeOver()
  line.goOn()
  expect(await again).toMatchObject({ record: '{}' })
  // After whatever the late reply has caused.
  await line.store.replica.join()
  expect(await memory.sessions.cancel('s', '1')).toBe(line.store.replica.id)
})

test('a stream that was opened too late ends', async () => {
  const memory = memoryStore()
  const line = stoppableLine(memory.another())
  await memory.sessions.create('s', '{}', LIFE)
  await line.store.replica.join()
  await givenUp(line, () => line.store.streams.open('s', 'r1', '"call"'))
  line.goOn()
  await expect.poll(() => memory.streams.attach('s', 'r1', '', 1)).toMatchObject({ events: [], isOver: true })
  // An idle session is not held by it.
  await expect.poll(async () => (await memory.sessions.idle(['s']))[0]).toMatchObject({ idleMs: expect.any(Number) })
})

test('a stream that was taken over too late is found once more, and continued', async () => {
  const memory = memoryStore()
  const owner = memory.another()
  const line = stoppableLine(memory.another())
  await memory.sessions.create('s', '{}', LIFE)
  await owner.streams.open('s', 'r1', '"call"')
  const { id } = owner.replica
  await owner.close()
  const { streams, replica } = line.store
  const dead = { replica: id, streams: [{ sid: 's', stream: 'r1' }] }
  expect(await replica.claimDead()).toEqual(dead)
  await givenUp(line, () => streams.takeOver('s', 'r1', id))
  line.goOn()
  await expect.poll(() => replica.claimDead()).toEqual(dead)
  const taken = await streams.takeOver('s', 'r1', id)
  expect(taken).toMatchObject({ call: '"call"', epoch: expect.any(Number) })
  expect(await replica.claimDead()).toBeUndefined()
  const bounds = { maxEvents: 9, maxBytes: 9999, maxSessionBytes: 9999, endedTtlMs: 60_000, maxEnded: 9 }
  const batch = { n: 1, epoch: taken?.epoch as number, events: [{ json: '"lost"' }], isLast: true }
  await streams.append('s', 'r1', batch, bounds)
  expect(await memory.streams.attach('s', 'r1', '', 9)).toMatchObject({ events: [{ json: '"lost"' }], isOver: true })
})

test('calls that were given up take their room until the process with the store has run them', async () => {
  const line = stoppableLine(memoryStore())
  const keep = () => line.store.counters.keep('key', 'x'.repeat(20 * MIB), 1000)
  await givenUp(line, keep)
  await expect(keep()).rejects.toThrow('maxStoreCallChars')
  expect(line.held).toHaveLength(1)
  line.goOn()
  await expect.poll(() => line.store.health()).toBeUndefined()
  expect(await keep()).toHaveLength(20 * MIB)

  const many = stoppableLine(memoryStore())
  await givenUp(many, () => many.store.counters.kept('key'))
  for (let i = 1; i < 10_000; i++) many.store.counters.kept('key').catch(() => {})
  await expect(many.store.counters.kept('key')).rejects.toThrow('maxStoreCalls')
  expect(many.held).toHaveLength(10_000)
})
