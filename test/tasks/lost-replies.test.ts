import { describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../src/protocol/interfaces/task-record.ts'
import { settle } from '../support/raw-channel.ts'
import { once, processOf, storeOnWire } from './store-on-wire.ts'

describe('a result that the store cannot take while it is down', () => {
  async function ended() {
    const { store, wire, memory } = storeOnWire()
    const made = processOf(store)
    const { taskId } = (await made.client.call('again')).result
    await settle()
    wire.isDown = true
    made.go.open('paid')
    await settle()
    return { ...made, wire, taskId, kept: async () => (await memory.read('', taskId)) as TaskRecord }
  }

  test('is stored when the store is back', async () => {
    const { wire, wait, kept, runs } = await ended()
    await wait(3)
    expect((await kept()).status).toBe('working')
    wire.isDown = false
    await wait(1)
    expect(await kept()).toMatchObject({ status: 'completed', outcome: { result: { content: [{ text: 'paid' }] } } })
    expect(runs()).toBe(1)
  })

  test('is not replaced by an error when one more try fails', async () => {
    const { wire, wait, kept } = await ended()
    wire.drops = once((task) => task.outcome !== undefined)
    wire.isDown = false
    await wait(1)
    expect(await kept()).toMatchObject({ status: 'completed', outcome: { result: { content: [{ text: 'paid' }] } } })
  })
})
