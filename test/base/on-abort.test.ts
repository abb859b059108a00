import { expect, test, vi } from 'vitest'
import { onAbort } from '../../src/base/on-abort.ts'

test('all listeners of one signal run once when it is aborted, without a leak warning', async () => {
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

test('a removed listener does not run, even when another listener removes it during the abort', () => {
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

test('the same function can be registered twice', () => {
  const controller = new AbortController()
  const run = vi.fn()
  onAbort(controller.signal, run)
  onAbort(controller.signal, run)()
  controller.abort()
  expect(run).toHaveBeenCalledTimes(1)
})

test('a listener added to an aborted signal runs at once', () => {
  const run = vi.fn()
  onAbort(AbortSignal.abort(), run)
  expect(run).toHaveBeenCalledTimes(1)
})
