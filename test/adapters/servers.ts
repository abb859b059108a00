/** Servers, clients and hosts that the tests of all adapters share. */

import { onTestFinished } from 'vitest'
import { createHost, type Host, type HostOptions } from '../../src/host/index.ts'
import { connect } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'

/** One red pixel. */
export const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const text = { type: 'string' } as const

export function weather() {
  const server = createServer({ name: 'weather', version: '1' })
  const cities: string[] = []
  const aborted: string[] = []
  const waiting: string[] = []
  const city = { type: 'object', properties: { city: text }, required: ['city'] } as const
  server.tool('forecast', { description: 'Forecast for a city', input: city }, ({ city }) => {
    cities.push(String(city))
    return `Rain in ${String(city)}`
  })
  const measured = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] } as const
  server.tool('measure', { description: 'Measures', output: measured }, () => ({ degrees: 21 }))
  server.tool('fail', { description: 'Always fails' }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'The station is closed' }],
  }))
  server.tool('map', { description: 'A map' }, () => ({
    content: [
      { type: 'text', text: 'The map:' },
      { type: 'image', data: PICTURE, mimeType: 'image/png' },
    ],
  }))
  server.tool('scan', { description: 'Takes a while' }, async (_args, ctx) => {
    await ctx.progress(1, 2, 'half')
    await new Promise((resolve) => setTimeout(resolve, 20))
    await ctx.progress(2, 2, 'all')
    return 'scanned'
  })
  server.tool('wait', { description: 'Waits until it is cancelled' }, async (_args, ctx) => {
    waiting.push('wait')
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve(), { once: true }))
    aborted.push('wait')
    return 'too late'
  })
  server.tool('radar.near', { description: 'A name with a dot' }, () => 'clear')
  return { server, cities, aborted, waiting }
}

export async function connected(server: ReturnType<typeof weather>['server']) {
  const client = await connect(server)
  onTestFinished(() => client.close())
  return client
}

const folder = temporaryFolders()

export async function hosted(server: ReturnType<typeof weather>['server'], options: HostOptions): Promise<Host> {
  const host = await createHost({
    folder: folder(),
    keychain: false,
    servers: { weather: { tier: 'trusted', provenance: [], transport: { type: 'memory', service: server } } },
    ...options,
  })
  onTestFinished(() => host.close())
  await host.settled()
  return host
}
