import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

type Module = typeof import('../../src/base/call-observer.ts')

let callObserver: Module['callObserver']
let callSafely: Module['callSafely']
let callListeners: Module['callListeners']
const reports = vi.spyOn(console, 'error').mockReturnValue()

beforeEach(async () => {
  // It reports one fault of each callback for each process.
  vi.resetModules()
  ;({ callObserver, callSafely, callListeners } = await import('../../src/base/call-observer.ts'))
})
afterEach(() => void reports.mockClear())

/** A promise that is no instance of Promise, as those of some libraries. */
const THEN: string = 'then'
const thenable = { [THEN]: (_done: unknown, failed: (fault: unknown) => void) => failed('late') }

describe('a callback that observes', () => {
  test.each([
    [
      'throws',
      () => {
        throw 'late'
      },
    ],
    ['rejects', () => Promise.reject('late')],
    ['rejects with a promise of another library', () => thenable],
    ['rejects with a promise of another realm', () => runInNewContext('Promise.reject("late")')],
  ])('may fail: it %s', async (_how, observer) => {
    const faults: unknown[] = []
    callSafely(observer, (fault) => faults.push(fault))
    await expect.poll(() => faults).toEqual(['late'])
  })

  test.each([undefined, null, 5, 'text', { [THEN]: 'text' }])('may return anything: %j', (value) => {
    callObserver('onRequest', () => value)
    expect(reports).not.toHaveBeenCalled()
  })

  test('has its first fault reported with its name, and no other', async () => {
    callObserver('onRequest', () => Promise.reject(new Error('The disk is full')))
    await expect.poll(() => reports.mock.calls.length).toBe(1)
    for (const name of ['onRequest', 'onRefused', 'onRefused'])
      callObserver(name, () => {
        throw new Error('Still full')
      })
    expect(reports.mock.calls).toEqual([
      [expect.stringMatching(/^portico: the callback onRequest failed\. Its later failures are not reported: Error: The disk is full\n/)],
      [expect.stringMatching(/^portico: the callback onRefused failed\. Its later failures are not reported: Error: Still full\n/)],
    ])
  })
})

test('a listener that throws or rejects does not stop the others', async () => {
  const heard: number[] = []
  const listeners = [
    () => {
      throw new Error('one')
    },
    () => Promise.reject(new Error('two')),
    (value: number) => heard.push(value),
  ]
  callListeners(listeners, (listener) => listener(5), 'changes')
  expect(heard).toEqual([5])
  await expect
    .poll(() => reports.mock.calls)
    .toEqual([
      [expect.stringMatching(/^portico: a listener for changes failed: Error: one\n/)],
      [expect.stringMatching(/^portico: a listener for changes failed: Error: two\n/)],
    ])
})
