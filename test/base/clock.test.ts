import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'

test('time never goes back, and a timer fires once after its delay', async () => {
  const before = systemClock.now()
  let fired = 0
  await new Promise<void>((resolve) =>
    systemClock
      .after(20, () => {
        fired++
        resolve()
      })
      .hold(true),
  )
  expect(systemClock.now() - before).toBeGreaterThanOrEqual(18)
  expect(fired).toBe(1)
})

test('a timer that was cancelled does not fire', async () => {
  let fired = false
  systemClock
    .after(1, () => {
      fired = true
    })
    .cancel()
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(fired).toBe(false)
})

test('a timer for longer than Node can count does not fire at once', async () => {
  const warned = vi.fn()
  process.on('warning', warned)
  let fired = false
  const timer = systemClock.after(Number.MAX_SAFE_INTEGER, () => {
    fired = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  timer.cancel()
  process.off('warning', warned)
  expect(fired).toBe(false)
  expect(warned).not.toHaveBeenCalled()
})
