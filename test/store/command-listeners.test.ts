/** Listeners for the commands of a store, and timers that must not keep a process. */

import { expect, test, vi } from 'vitest'
import type { StoreCommand } from '../../src/protocol/interfaces/store-command.ts'
import { memoryStore } from '../../src/store/index.ts'
import { sampleTask } from '../../src/testing/check-task-store.ts'
import { storeLine } from '../support/store-line.ts'

test('a listener that throws fails neither the command nor the other listeners', async () => {
  const { store } = storeLine(memoryStore())
  const told: StoreCommand[] = []
  store.onCommand?.(() => {
    throw new Error('A fault of the listener')
  })
  store.onCommand?.((command) => told.push(command))
  await store.counters.put('key', 'value', 60_000)
  expect(await store.counters.kept('key')).toBe('value')
  expect(told.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['counters.put', 'ok'],
    ['counters.kept', 'ok'],
  ])
})

test('watching a task of another process does not keep this one from ending', async () => {
  const timers = vi.spyOn(globalThis, 'setInterval')
  const { store } = storeLine(memoryStore())
  const { owner, taskId } = sampleTask('a')
  const stop = store.tasks?.watch?.(owner, taskId, () => {})
  expect(timers.mock.results.map(({ value }) => value.hasRef())).toEqual([false])
  stop?.()
  timers.mockRestore()
})
