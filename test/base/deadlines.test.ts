import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { type Deadline, Deadlines } from '../../src/base/deadlines.ts'
import { fakeClock } from '../../src/testing/index.ts'

test('a deadline fires once, at its time and not before', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const fired: number[] = []
  deadlines.set(100, () => fired.push(clock.now()))
  await clock.advance(99)
  expect(fired).toEqual([])
  await clock.advance(1)
  expect(fired).toEqual([100])
  await clock.advance(1000)
  expect(fired).toEqual([100])
})

test('a deadline that was cleared never fires', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  let fired = false
  const deadline = deadlines.set(100, () => {
    fired = true
  })
  deadlines.clear(deadline)
  await clock.advance(1000)
  expect(fired).toBe(false)
})

test('a moved deadline fires at its new time, later or earlier', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const fired: [string, number][] = []
  const later = deadlines.set(100, () => fired.push(['later', clock.now()]))
  const earlier = deadlines.set(1000, () => fired.push(['earlier', clock.now()]))
  await clock.advance(50)
  deadlines.move(later, 400)
  deadlines.move(earlier, 10)
  await clock.advance(2000)
  expect(fired).toEqual([
    ['earlier', 60],
    ['later', 450],
  ])
})

test('a deadline may be set, moved and cleared while another fires', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const fired: string[] = []
  const cleared = deadlines.set(10, () => fired.push('cleared'))
  deadlines.set(5, () => {
    deadlines.clear(cleared)
    deadlines.set(0, () => fired.push('at once'))
    deadlines.set(20, () => fired.push('later'))
    fired.push('first')
  })
  await clock.advance(5)
  expect(fired).toEqual(['first', 'at once'])
  await clock.advance(20)
  expect(fired).toEqual(['first', 'at once', 'later'])
})

test('a deadline that is postponed by another one due at the same time does not fire', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  const fired: number[] = []
  deadlines.set(5, () => deadlines.move(putOff, 100))
  const putOff = deadlines.set(5, () => fired.push(clock.now()))
  await clock.advance(50)
  expect(fired).toEqual([])
  await clock.advance(55)
  expect(fired).toEqual([105])
})

test('a deadline that is never due does no harm', async () => {
  const clock = fakeClock()
  const deadlines = new Deadlines(clock)
  let fired = 0
  deadlines.set(Number.POSITIVE_INFINITY, () => fired++)
  deadlines.set(5, () => fired++)
  await clock.advance(1e12)
  expect(fired).toBe(1)
})

test('any mix of setting, moving and clearing fires the remaining deadlines on time', async () => {
  const step = fc.record({ act: fc.constantFrom('set', 'move', 'clear', 'wait'), which: fc.nat(20), ms: fc.nat(100) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = fakeClock()
      const deadlines = new Deadlines(clock)
      const open = new Map<number, { deadline: Deadline; at: number }>()
      let made = 0
      for (const { act, which, ms } of steps) {
        const chosen = [...open.keys()][which % Math.max(1, open.size)]
        if (act === 'set') {
          const key = made++
          const deadline = deadlines.set(ms, () => {
            expect(clock.now()).toBe(open.get(key)?.at)
            open.delete(key)
          })
          open.set(key, { deadline, at: clock.now() + ms })
        } else if (act === 'wait') await clock.advance(ms)
        else if (chosen !== undefined) {
          const entry = open.get(chosen) as { deadline: Deadline; at: number }
          if (act === 'clear') {
            deadlines.clear(entry.deadline)
            open.delete(chosen)
          } else {
            deadlines.move(entry.deadline, ms)
            entry.at = clock.now() + ms
          }
        }
      }
      await clock.advance(200)
      expect(open.size).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('all deadlines share one timer', () => {
  let timers = 0
  const clock: Clock = {
    now: () => 0,
    after: () => {
      timers++
      return { cancel: () => timers--, hold: () => {} }
    },
  }
  const deadlines = new Deadlines(clock)
  for (let i = 0; i < 1000; i++) deadlines.set(1000 - i, () => {})
  expect(timers).toBe(1)
})

test('the process stays alive exactly while a deadline is open, and only when that is requested', async () => {
  const fake = fakeClock()
  let isHeld = false
  const clock: Clock = {
    now: fake.now,
    after: (ms, fire) => {
      isHeld = false
      const timer = fake.after(ms, () => {
        isHeld = false
        fire()
      })
      return {
        cancel: timer.cancel,
        hold: (held) => {
          isHeld = held
        },
      }
    },
  }
  const holding = new Deadlines(clock, { holdsProcess: true })
  const one = holding.set(100, () => {})
  expect(isHeld).toBe(true)
  const two = holding.set(200, () => {})
  holding.clear(one)
  expect(isHeld).toBe(true)
  holding.clear(two)
  expect(isHeld).toBe(false)
  holding.set(150, () => {})
  expect(isHeld).toBe(true)
  await fake.advance(120)
  expect(isHeld).toBe(true)
  await fake.advance(100)
  expect(isHeld).toBe(false)

  new Deadlines(clock).set(100, () => {})
  expect(isHeld).toBe(false)
})
