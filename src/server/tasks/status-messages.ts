/** Status messages of a task, not more often than the store should write them. */

import type { Deadlines } from '../../base/deadlines.ts'

/** The shortest time between two status messages in the store. */
const SAY_MS = 200

/** Returns a function that saves the first text at once, and later the last of those that it got in the meantime. */
export function statusMessages(deadlines: Deadlines, save: (text: string) => void): (text: string) => void {
  let isPausing = false
  let last: string | undefined
  const say = (text: string): void => {
    isPausing = true
    save(text)
    deadlines.set(SAY_MS, () => {
      const next = last
      last = undefined
      isPausing = false
      if (next !== undefined) say(next)
    })
  }
  return (text) => {
    if (isPausing) last = text
    else say(text)
  }
}
