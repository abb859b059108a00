/** Keeps what ran in the results of the run. `npm test` makes the table of runtimes from it. */

import { TestRunner } from 'vitest'

/** By transport and revision: each step with `true`, or with what came instead. */
export type Outcome = Record<string, Record<string, true | string>>

declare module 'vitest' {
  interface TaskMeta {
    runtime?: { name: string; outcome: Outcome }
  }
}

/** Call it before the expectations, so that the table shows what failed, too. */
export function record(name: string, outcome: Outcome): void {
  const current = TestRunner.getCurrentTest()
  if (current === undefined) throw new Error('record() must be called inside a test')
  current.meta.runtime = { name, outcome }
}
