/** What telemetry leaves out, because it would cost each request time. */

import { afterEach, expect, test, vi } from 'vitest'
import { connect } from '../../src/index.ts'
import { serverTelemetry } from '../../src/opentelemetry/index.ts'
import { createServer } from '../../src/server/index.ts'

afterEach(() => void vi.unstubAllGlobals())

/** How many abort controllers a call creates, at the client and at the server. */
async function controllersOf({ hasTelemetry, isMounted }: { hasTelemetry: boolean; isMounted: boolean }): Promise<number> {
  const server = createServer({ name: 'test', version: '1' })
  server.tool('hi', {}, () => 'hi')
  const outer = createServer({ name: 'outer', version: '1' })
  outer.mount('inner', server)
  if (hasTelemetry) server.use(serverTelemetry())
  await using client = await connect(isMounted ? outer : server)
  const call = () => client.call(isMounted ? 'inner_hi' : 'hi')
  await call()
  let count = 0
  vi.stubGlobal(
    'AbortController',
    class extends AbortController {
      constructor() {
        super()
        count++
      }
    },
  )
  await call()
  vi.unstubAllGlobals()
  return count
}

test.each([false, true])(
  'a request with telemetry has no abort controller that it would not have without (mounted: %s)',
  async (isMounted) => {
    const without = await controllersOf({ hasTelemetry: false, isMounted })
    expect(await controllersOf({ hasTelemetry: true, isMounted })).toBe(without)
  },
)
