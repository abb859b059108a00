/** Says which requirements a test proves. `npm run trace` counts them when the test has passed. */

import { TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Ids of rows of `requirements/*.tsv`. */
    proves?: string[]
  }
}

/**
 * Call it first in the body of a test.
 *
 * @example
 * test('an empty list is answered after the last tool was removed', async () => {
 *   proves('R-TOOL-021')
 *   ...
 * })
 */
export function proves(...ids: string[]): void {
  const current = TestRunner.getCurrentTest()
  if (current === undefined) throw new Error(`proves(${ids.join(', ')}) must be called inside a test`)
  current.meta.proves = [...(current.meta.proves ?? []), ...ids]
}
