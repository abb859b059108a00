/** What a runtime with isolates refuses. test/runtimes/runtimes.test.ts runs it in workerd. */

import { afterEach, expect, test, vi } from 'vitest'
import { httpHandler } from '../../../src/http/index.ts'
import type { KeyRing } from '../../../src/protocol/interfaces/replaceable-services.ts'
import { createServer } from '../../../src/server/index.ts'

afterEach(() => vi.unstubAllGlobals())

const newServer = () => createServer({ name: 'notes', version: '1.0.0' })

test('without isolates the defaults are allowed', () => {
  expect(() => httpHandler(newServer())).not.toThrow()
})

test.each([{ navigator: { userAgent: 'Cloudflare-Workers' } }, { EdgeRuntime: 'edge-runtime' }])(
  'a runtime with isolates names the setting to use, and asks only with shared keys (%o)',
  async (globals: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    expect(() => httpHandler(newServer())).toThrow('set sessions: false')
    expect(() => httpHandler(newServer(), { sessions: false, metrics: true })).toThrow('use onRequest')
    // Inside a Durable Object.
    expect(() => httpHandler(newServer(), { sessions: true })).not.toThrow()

    let keys: KeyRing | undefined
    const useKeys = (used: KeyRing): void => {
      keys = used
    }
    httpHandler({ ...newServer(), useKeys }, { sessions: false })
    expect(() => keys?.current()).toThrow('set keys: keyRing(secret) in createServer')
    expect(await keys?.find('any')).toBeUndefined()
  },
)
