/** Tasks that do not overlap. */

import { expect, test } from 'vitest'
import { oneAtATime } from '../../../console/src/state/one-at-a-time.ts'

test('calls during a run cause one more run together, also after a failure', async () => {
  const ends: ((error?: Error) => void)[] = []
  const run = oneAtATime(() => new Promise<void>((resolve, reject) => void ends.push((error) => (error ? reject(error) : resolve()))))
  const first = run()
  const others = [run(), run(), run()]
  expect(ends).toHaveLength(1)
  ends[0]?.(new Error('failed'))
  await expect(first).rejects.toThrow('failed')
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await Promise.all(others)
  expect(ends).toHaveLength(2)
  const again = run()
  ends[2]?.()
  await again
})
