/** Which source files a piece of work enters, as V8 counts the calls of their functions. */

import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The files of `src/` of which a function ran during `work`, sorted. Run the work once before, so that nothing that
 * happens only at the first time is counted.
 */
export async function enteredFiles(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    // `get` without a name is how the test runner links modules, not a call.
    const entered = result
      .filter(({ functions }) =>
        functions.some(({ functionName, ranges }) => functionName !== 'get' && ranges.some(({ count }) => count > 0)),
      )
      .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url).replace(root, ''))
    return [...new Set(entered.filter((path) => path.startsWith('src/')))].sort()
  } finally {
    session.disconnect()
  }
}
