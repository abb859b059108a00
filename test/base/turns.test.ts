import { expect, test } from 'vitest'
import { Turns } from '../../src/base/turns.ts'

test('work with the same key takes turns in order, also after a failure, and other keys do not wait', async () => {
  const turns = new Turns()
  const done: string[] = []
  let go = (): void => {}
  const first = turns.take('a', async () => {
    await new Promise<void>((resolve) => {
      go = resolve
    })
    done.push('a1')
    throw new Error('broken')
  })
  const second = turns.take('a', async () => done.push('a2'))
  await turns.take('b', async () => done.push('b1'))
  expect(done).toEqual(['b1'])
  go()
  await expect(first).rejects.toThrow('broken')
  expect(await second).toBe(3)
  expect(done).toEqual(['b1', 'a1', 'a2'])
})
