/** The proxy of the tests delays bytes and keeps their order. */

import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { inOrder } from './tcp-proxy.ts'

test('bytes that come after the delay has ended do not overtake those that wait', async () => {
  const written: string[] = []
  let delayMs = 50
  const write = inOrder<string>(
    (text) => written.push(text),
    () => delayMs,
  )
  write('a')
  delayMs = 0
  write('b')
  expect(written).toEqual([])
  await until(() => written.length === 2)
  expect(written).toEqual(['a', 'b'])
  write('c')
  expect(written).toEqual(['a', 'b', 'c'])
})
