/** The bus over the messages between replicas, while the store does not answer. */

import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest'
import { type ErrorCode, McpError } from '../../src/protocol/errors.ts'
import type { Replica, StoreMessage } from '../../src/store/replica.ts'
import { storeBus } from '../../src/store/store-bus.ts'
import { until } from '../support/until.ts'

let log: MockInstance<typeof console.error>
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => log.mockRestore())

/** A replica of a store that answers or does not. */
function scripted() {
  const store = {
    isDown: true,
    fault: 'ERR_STORE_DOWN' as ErrorCode,
    sent: [] as string[],
    attempts: 0,
    receive: (_message: StoreMessage): void => {},
  }
  const answer = async (): Promise<void> => {
    store.attempts++
    if (store.isDown) throw new McpError(store.fault, 'The store does not answer')
  }
  const replica = {
    isHeld: false,
    listen: (listener: (message: StoreMessage) => void) => {
      store.receive = listener
      return () => {}
    },
    join: async () => {
      await answer()
      replica.isHeld = true
    },
    broadcast: async (json: string) => {
      await answer()
      store.sent.push(json)
    },
  }
  return { store, replica, bus: storeBus(replica as unknown as Replica) }
}

test('an outage is reported once, however many changes it keeps from the other replicas', async () => {
  const { store, bus } = scripted()
  for (let i = 0; i < 500; i++) bus.publish({ kind: 'tools' })
  await until(() => store.attempts > 501)
  for (let i = 0; i < 500; i++) bus.publish({ kind: 'tools' })
  store.isDown = false
  await until(() => store.sent.length > 0)
  expect(store.sent).toEqual(['{"areMissing":true}'])
  expect(log).toHaveBeenCalledTimes(1)
  bus.publish({ kind: 'prompts' })
  await until(() => store.sent.length > 1)
  // The next outage is reported again.
  store.isDown = true
  bus.publish({ kind: 'tools' })
  await until(() => log.mock.calls.length === 2)
  store.isDown = false
  await until(() => store.sent.length > 2)
})

test('a listener from before this replica was among the others is told that it missed changes', async () => {
  const { store, bus, replica } = scripted()
  const missed: string[] = []
  bus.subscribe(
    () => {},
    () => missed.push('first'),
  )
  await until(() => store.attempts > 1)
  bus.subscribe(
    () => {},
    () => missed.push('second'),
  )
  expect(missed).toEqual([])
  store.isDown = false
  await until(() => missed.length > 0)
  expect(replica.isHeld).toBe(true)
  bus.subscribe(
    () => {},
    () => missed.push('later'),
  )
  await until(() => missed.length >= 2)
  expect(missed).toEqual(['first', 'second'])
  expect(log).toHaveBeenCalledTimes(1)
})

test('a change that another endpoint tells all replicas is not one of the bus', () => {
  const { store, bus } = scripted()
  const heard: unknown[] = []
  store.isDown = false
  bus.subscribe((change) => heard.push(change))
  const change = { kind: 'tools' }
  store.receive({ kind: 'message', json: JSON.stringify({ kind: 'change', change }) })
  expect(heard).toEqual([])
  store.receive({ kind: 'message', json: JSON.stringify({ change }) })
  expect(heard).toEqual([change])
})

test('changes that the store refuses are reported once, until it takes one', async () => {
  const { store, bus } = scripted()
  store.fault = 'ERR_STORE'
  const publish = async (): Promise<void> => {
    const { attempts } = store
    bus.publish({ kind: 'tools' })
    await until(() => store.attempts > attempts)
    await new Promise(setImmediate)
  }
  for (let i = 0; i < 3; i++) await publish()
  expect(log).toHaveBeenCalledTimes(1)
  store.isDown = false
  await publish()
  store.isDown = true
  await publish()
  expect(log).toHaveBeenCalledTimes(2)
})

test('a store that was closed is no fault', async () => {
  const { store, bus } = scripted()
  store.fault = 'ERR_CLOSED'
  bus.subscribe(() => {})
  bus.publish({ kind: 'tools' })
  await until(() => store.attempts === 2)
  await new Promise(setImmediate)
  expect(log).not.toHaveBeenCalled()
})
