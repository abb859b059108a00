/** One log message: what it costs, and what it says about those before it. */

import { expect, test, vi } from 'vitest'
import { Logging } from '../../src/server/logging.ts'
import type { Quota } from '../../src/server/quota.ts'

const searched = vi.hoisted(() => ({ chars: 0 }))
vi.mock('../../src/base/text/redact.ts', async (original) => {
  const real = await original<typeof import('../../src/base/text/redact.ts')>()
  return {
    ...real,
    redact: (value: unknown) => {
      searched.chars += JSON.stringify(value).length
      return real.redact(value)
    },
  }
})

/** @param isTaken whether there is room for the next message */
function logger(isTaken: () => boolean = () => true) {
  const logging = new Logging({}, 'x')
  const quota = { mayLog: () => isTaken() } as unknown as Quota
  return (data: unknown) => {
    const json = logging.write({ level: 'info', data }, 'info', quota)
    return json === undefined ? undefined : JSON.parse(json).params
  }
}

test.each<[string, unknown]>([
  ['a text', 'x'.repeat(4_000_000)],
  ['a list', Array(400_000).fill('some text')],
  ['an object', { a: { b: 'y'.repeat(2_000_000) }, password: 'z'.repeat(2_000_000) }],
])('only the part that is sent is searched for secrets: %s', (_, data) => {
  searched.chars = 0
  const { data: sent } = logger()(data)
  expect(searched.chars).toBeLessThan(5 * 8192)
  expect(sent).toMatch(/\(cut at 8192 characters\)$/)
  expect(sent.length).toBeLessThan(8192 + 100)
})

test('dropped messages are reported once', () => {
  let isTaken = true
  const log = logger(() => isTaken)
  expect(log('one')._meta).toBeUndefined()
  isTaken = false
  for (let times = 0; times < 3; times++) expect(log('lost')).toBeUndefined()
  isTaken = true
  expect(log('two')._meta).toEqual({ 'dev.portico/dropped': 3 })
  expect(log('three')._meta).toBeUndefined()
})
