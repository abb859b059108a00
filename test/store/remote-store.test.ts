/** A store that other processes use over a line. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { memoryStore, type StoreMessage, serveStore } from '../../src/store/index.ts'
import { checkStore } from '../../src/testing/index.ts'
import { lineOf, storeLine } from '../support/store-line.ts'

const LIFE = { ttlMs: 60_000, maxAgeMs: 60_000 }

test('a store of another process keeps the rules of every store', async () => {
  const memory = memoryStore()
  await checkStore(() => storeLine(memory.another()).store)
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

test('what a killed worker ran is claimed by the others', async () => {
  const memory = memoryStore()
  await memory.sessions.create('shared', '{}', LIFE)
  const worker = fork(fileURLToPath(new URL('fixtures/worker.mjs', import.meta.url)), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
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
