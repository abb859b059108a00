/** A store that other processes use over a line. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStore, remoteStore, type SharedStore, type StoreMessage, type StorePort, serveStore } from '../../src/store/index.ts'
import type { TaskStore } from '../../src/tasks/index.ts'
import { sampleTask } from '../../src/testing/check-task-store.ts'
import { checkStore, checkTaskStore } from '../../src/testing/index.ts'
import { lineOf, storeLine } from '../support/store-line.ts'

const fixture = (file: string): string => fileURLToPath(new URL(`fixtures/${file}`, import.meta.url))
const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

describe('a store of another process, over the channel between them', () => {
  /** Opens a line to one of the stores of a child process. */
  function storeProcess(): (name: string) => SharedStore {
    const child = fork(fixture('store-process.mjs'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    onTestFinished(() => void child.disconnect())
    child.setMaxListeners(0)
    let lines = 0
    return (store) => {
      const line = ++lines
      return remoteStore({
        send: (text) => void child.send({ store, line, text }),
        listen: (onText, onGone) => {
          child.on('message', (message: { line: number; text: string }) => message.line === line && onText(message.text))
          child.on('disconnect', onGone)
        },
      })
    }
  }

  test('keeps the rules of every store', async () => {
    const open = storeProcess()
    await checkStore(() => open('one'))
  }, 60_000)

  test('keeps the rules of every store of tasks', async () => {
    const open = storeProcess()
    let stores = 0
    await checkTaskStore(() => open(`tasks ${++stores}`).tasks as TaskStore)
    expect(stores).toBeGreaterThan(1)
  }, 60_000)
})

test('when the process with the store is gone, calls fail and the lease is lost', async () => {
  const { store, cut } = storeLine(memoryStore())
  const got: StoreMessage[] = []
  store.replica.listen((message) => got.push(message))
  await store.replica.join()
  expect(store.replica.isHeld).toBe(true)
  const waiting = store.sessions.create('s', '{}', LIFE)
  cut()
  const down = { code: 'ERR_STORE_DOWN', message: 'The process that has the store is gone' }
  await waiting.catch((error) => expect(error).toMatchObject(down))
  await expect.poll(() => store.replica.isHeld).toBe(false)
  await expect(store.sessions.enter('s', undefined, 1)).rejects.toMatchObject(down)
  expect(store.health()).toBe(down.message)
  expect(got).toEqual([{ kind: 'lost', reason: down.message }])
})

test('a process with the store that does not answer counts as down, until it answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const sent: string[] = []
  let answer: (text: string) => void = () => {}
  const store = remoteStore({ send: (text) => sent.push(text), listen: (onText) => (answer = onText) })
  const replyTo = (call: number): string =>
    JSON.stringify({ call, result: 'value', state: { id: 'r', isHeld: true, leaseMs: 1000, health: null } })
  const late = store.counters.kept('x').catch((error: unknown) => error)
  expect(store.health()).toBeUndefined()
  vi.advanceTimersByTime(10_000)
  expect(await late).toMatchObject({ code: 'ERR_STORE_DOWN', message: expect.stringContaining('did not answer within 10000 ms') })
  expect(store.health()).toContain('did not answer within 10000 ms')
  answer(replyTo(1))
  expect(store.health()).toBeUndefined()
  // A reply that came while this process was stopped counts.
  const read = store.counters.kept('x')
  vi.advanceTimersByTime(10_000)
  answer(replyTo(2))
  expect(await read).toBe('value')
  expect(sent).toHaveLength(2)
})

test('errors keep their codes, and only methods of a store can be called', async () => {
  const { store } = storeLine(memoryStore({ maxSessions: 0 }))
  await expect(store.sessions.create('s', '{}', LIFE)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
  const { port1, port2 } = new MessageChannel()
  serveStore(memoryStore(), lineOf(port1))
  port2.postMessage(JSON.stringify({ call: 1, method: 'constructor.constructor', args: ['return 1'] }))
  const [text] = await once(port2, 'message')
  expect(JSON.parse(text)).toMatchObject({
    call: 1,
    error: { code: 'ERR_STORE', message: 'A store has no method "constructor.constructor"' },
  })
  port1.close()
})

test('lists, heads, renewals and looks for neglected tasks send no content of tasks', async () => {
  const { port1, port2 } = new MessageChannel()
  let chars = 0
  const counted = (port: typeof port1): StorePort => {
    const line = lineOf(port)
    const send = (text: string): void => {
      chars += text.length
      line.send(text)
    }
    return { ...line, send }
  }
  serveStore(memoryStore(), counted(port1))
  const tasks = remoteStore(counted(port2)).tasks as TaskStore
  const task = sampleTask('a', { params: { name: 'work', arguments: { text: 'x'.repeat(100_000) } } })
  await tasks.create(task, { perAccount: 9, total: 9 })
  chars = 0
  let news = 0
  const stop = tasks.watch?.('o', 'a', () => news++)
  expect(await tasks.renew('o', 'a', { ...task.lease, until: 5 })).toBe(true)
  for (const head of [await tasks.head('o', 'a'), ...(await tasks.list('o')), ...(await tasks.neglected(5))])
    expect(head).toMatchObject({ taskId: 'a', lease: { until: 5 } })
  await new Promise((resolve) => setTimeout(resolve, 600))
  stop?.()
  port1.close()
  expect([chars < 10_000, news]).toEqual([true, 0])
})

test('what a killed worker ran is claimed by the others', async () => {
  const memory = memoryStore()
  await memory.sessions.create('shared', '{}', LIFE)
  const worker = fork(fixture('worker.mjs'), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  serveStore(memory.another(), {
    send: (text) => {
      if (worker.connected) worker.send(text)
    },
    listen: (onText, onGone) => {
      worker.on('message', onText).on('disconnect', onGone)
    },
  })
  const [id] = await once(worker.stdout!, 'data')
  expect(await memory.replica.claimDead()).toBeUndefined()
  worker.kill('SIGKILL')
  await expect.poll(() => memory.replica.claimDead()).toEqual({ replica: String(id).trim(), streams: [{ sid: 'shared', stream: 'r1' }] })
  expect(await memory.streams.takeOver('shared', 'r1', String(id).trim())).toMatchObject({ call: '"call"' })
})

const MIB = 1024 * 1024

/** A line whose other end is a stopped process until `read` is called. */
function stoppedLine(): { port: StorePort; sent: string[]; say(text: object): void } {
  const sent: string[] = []
  let onText: (text: string) => void = () => {}
  const port = {
    send: (text: string) => void sent.push(text),
    listen: (listener: (text: string) => void) => {
      onText = listener
    },
  }
  return { port, sent, say: (text) => onText(JSON.stringify(text)) }
}

const charsOf = (texts: string[]): number => texts.reduce((sum, { length }) => sum + length, 0)
const settled = (): Promise<void> => new Promise(setImmediate)

test('a process that reads nothing gets 32 MiB of messages, and is told later that it missed some', async () => {
  const memory = memoryStore()
  const slow = memory.another()
  await slow.replica.join()
  const { port, sent, say } = stoppedLine()
  serveStore(slow, port)
  for (let i = 0; i < 40; i++) await memory.replica.send(slow.replica.id, 'x'.repeat(MIB))
  await settled()
  expect(charsOf(sent)).toBeGreaterThan(31 * MIB)
  expect(charsOf(sent)).toBeLessThanOrEqual(32 * MIB)
  const before = sent.length
  say({ received: { texts: before - 1, chars: charsOf(sent.slice(1)) } })
  say({ received: { texts: before, chars: charsOf(sent) } })
  expect(sent.slice(before).map((text) => JSON.parse(text).message)).toEqual([{ kind: 'missed' }])
  await memory.replica.send(slow.replica.id, '"again"')
  await settled()
  expect(JSON.parse(sent.at(-1) as string).message).toEqual({ kind: 'message', json: '"again"' })
})

test('a process that reads nothing gets 10,000 messages', async () => {
  const memory = memoryStore()
  const slow = memory.another()
  await slow.replica.join()
  const { port, sent } = stoppedLine()
  serveStore(slow, port)
  for (let i = 0; i < 10_001; i++) await memory.replica.send(slow.replica.id, '1')
  await settled()
  expect(sent).toHaveLength(10_000)
})

test('calls of a process that does not read their results wait until it does', async () => {
  const memory = memoryStore()
  const { port, sent, say } = stoppedLine()
  serveStore(memory.another(), port)
  await memory.counters.put('large', 'x'.repeat(5 * MIB), 60_000)
  const ask = (call: number): void => say({ call, method: 'counters.kept', args: ['large'] })
  for (let call = 1; call <= 20; call++) {
    ask(call)
    await settled()
  }
  const calls = (): number[] => sent.map((text) => JSON.parse(text).call)
  // The seventh began when there was room.
  expect(calls()).toEqual([1, 2, 3, 4, 5, 6, 7])
  say({ received: { texts: 7, chars: charsOf(sent) } })
  await settled()
  expect(calls().slice(7, 9)).toEqual([8, 9])
  // Those that came together may run together.
  while (sent.length < 20) {
    say({ received: { texts: sent.length, chars: charsOf(sent) } })
    await settled()
  }
  expect(calls()).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
})

test('calls without a reply have a limit of characters and a limit of their number, and the error names it', async () => {
  const { port, sent } = stoppedLine()
  const store = remoteStore(port)
  const keep = (chars: number): Promise<unknown> => store.counters.keep('key', 'x'.repeat(chars), 1000)
  const waiting = (calls: Promise<unknown>[]): void => {
    for (const call of calls) call.catch(() => {})
  }
  // A single large call is sent.
  waiting([keep(40 * MIB)])
  await expect(keep(1)).rejects.toMatchObject({ code: 'ERR_STORE_DOWN', message: expect.stringContaining('maxStoreCallChars') })
  expect(sent).toHaveLength(1)
  const many = stoppedLine()
  const other: SharedStore = remoteStore(many.port)
  waiting(Array.from({ length: 10_000 }, () => other.counters.kept('key')))
  await expect(other.counters.kept('key')).rejects.toMatchObject({
    code: 'ERR_STORE_DOWN',
    message: expect.stringContaining('maxStoreCalls'),
  })
  many.say({ call: 1, state: { id: 'a', isHeld: true, leaseMs: 1, health: null }, result: null })
  waiting([other.counters.kept('key')])
  expect(many.sent).toHaveLength(10_001)
})

test('a process says what it has received after 256 messages or a mebibyte', async () => {
  const { port, sent, say } = stoppedLine()
  const store = remoteStore(port)
  store.replica.listen(() => {})
  const state = { id: 'a', isHeld: true, leaseMs: 1, health: null }
  for (let i = 0; i < 256; i++) say({ state, message: { kind: 'message', json: '1' } })
  expect(sent.map((text) => JSON.parse(text).received.texts)).toEqual([256])
  say({ state, message: { kind: 'message', json: 'x'.repeat(MIB) } })
  expect(sent.map((text) => JSON.parse(text).received.texts)).toEqual([256, 257])
})
