import { expect, test, vi } from 'vitest'
import { onAbort } from '../../src/base/on-abort.ts'

test('everything that waits on one signal runs once when it is aborted, and none of it is taken for a leak', async () => {
  const warned = vi.fn()
  process.on('warning', warned)
  const controller = new AbortController()
  const listen = vi.spyOn(controller.signal, 'addEventListener')
  const run = vi.fn()
  for (let index = 0; index < 100; index++) onAbort(controller.signal, run)
  controller.abort()
  controller.abort()
  await new Promise(setImmediate)
  process.off('warning', warned)
  expect(run).toHaveBeenCalledTimes(100)
  expect(listen).toHaveBeenCalledTimes(1)
  expect(warned).not.toHaveBeenCalled()
})

test('what was given back does not run, even when it is given back by another that does', () => {
  const controller = new AbortController()
  const ran: string[] = []
  const forgetFirst = onAbort(controller.signal, () => ran.push('first'))
  onAbort(controller.signal, () => {
    ran.push('second')
    forgetThird()
  })
  const forgetThird = onAbort(controller.signal, () => ran.push('third'))
  forgetFirst()
  controller.abort()
  expect(ran).toEqual(['second'])
})

test('the same function may wait twice', () => {
  const controller = new AbortController()
  const run = vi.fn()
  onAbort(controller.signal, run)
  onAbort(controller.signal, run)()
  controller.abort()
  expect(run).toHaveBeenCalledTimes(1)
})

test('a signal that was aborted before runs it at once', () => {
  const run = vi.fn()
  onAbort(AbortSignal.abort(), run)
  expect(run).toHaveBeenCalledTimes(1)
})
