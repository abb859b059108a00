/** Status messages of a task, not more often than the store should write them. */

import type { Deadlines } from '../../base/deadlines.ts'

/** The shortest time between two status messages in the store. */
const SAY_MS = 200

/** Returns a function that saves the last of the texts it gets, a moment later. */
export function statusMessages(deadlines: Deadlines, save: (text: string) => void): (text: string) => void {
  let last: string | undefined
  return (text) => {
    if (last === undefined)
      deadlines.set(SAY_MS, () => {
        const said = last ?? text
        last = undefined
        save(said)
      })
    last = text
  }
}
