/** Which transport and revision two sides come to speak when only a URL is known, and what happens when there is none. */

import { afterEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { verdictMemory } from '../../src/client/dialect-memory.ts'
import { type ConnectAnywhereOptions, connect } from '../../src/index.ts'
import type { ListeningProcess } from '../support/listening-process.ts'
import { startEverything } from './everything.ts'
import { startSdkServer } from './sdk-server.ts'
import type { TheirClient } from './their-client.ts'
import { connectV1Client } from './v1-client.ts'
import { connectV2Client } from './v2-client.ts'

const NEWEST_SESSION = '2025-11-25'
const STATELESS = '2026-07-28'

/** What to end when the test is over, last first. */
const endings: (() => Promise<unknown>)[] = []

async function reach(starting: Promise<ListeningProcess>, options: ConnectAnywhereOptions = {}): Promise<Client> {
  const server = await starting
  endings.unshift(server.stop)
  const client = await connect(server.url, { memory: verdictMemory(), ...options })
  endings.unshift(() => client.close())
  return client
}

const theirs = async (connecting: Promise<TheirClient>): Promise<TheirClient> => {
  const client = await connecting
  endings.unshift(client.close)
  return client
}

export function describeHttpNegotiation(revisions: readonly string[]): void {
  afterEach(async () => {
    for (const end of endings.splice(0)) await end()
  })

  describe('our client, given a URL,', () => {
    test.each([
      ['a server with sessions only', () => startSdkServer('v1', 'sessions'), NEWEST_SESSION],
      ['a server of one request at a time, of old', () => startSdkServer('v1', 'stateless'), NEWEST_SESSION],
      ['a server with the two endpoints of 2024', () => startSdkServer('v1', 'sse'), NEWEST_SESSION],
      ['a server with stateless calls beside sessions', () => startSdkServer('v2', 'sessions'), STATELESS],
      ['a server with stateless calls beside requests of old', () => startSdkServer('v2', 'stateless'), STATELESS],
      ['a server with stateless calls only', () => startSdkServer('v2', 'modern'), STATELESS],
      ['the reference server', () => startEverything('http'), NEWEST_SESSION],
      ['the reference server as of 2024', () => startEverything('sse'), NEWEST_SESSION],
    ] as const)('our client finds out which dialect %s speaks', async (_name, start, revision) => {
      const client = await reach(start())
      expect(client.revision).toBe(revision)
      expect((await client.tools().all()).map(({ name }) => name)).toContain('echo')
    })

    test('our client speaks each older revision with the reference server if it offers no other', async () => {
      const server = await startEverything('http')
      endings.unshift(server.stop)
      for (const revision of revisions) {
        const client = await reach(Promise.resolve(server), { revisions: [revision] })
        expect(client.revision).toBe(revision)
        expect((await client.tools().all()).length).toBeGreaterThan(8)
      }
    })

    test.each([
      ['a client of stateless calls and a server of sessions', () => startSdkServer('v1', 'sessions'), [STATELESS]],
      ['a client of sessions and a server of stateless calls', () => startSdkServer('v2', 'modern'), revisions],
    ] as const)('our client reports that there is no common revision: %s', async (_name, start, spoken) => {
      await expect(reach(start(), { revisions: spoken })).rejects.toMatchObject({ name: 'McpError', code: 'ERR_VERSION_UNSUPPORTED' })
    })
  })

  describe('our server, at its URL,', () => {
    test('our server offers stateless calls to a client that looks for them', async () => {
      const client = await theirs(connectV2Client({ mode: 'auto', over: 'http' }))
      expect(client.revision).toBe(STATELESS)
      expect((await client.call('echo', { text: 'Hello' })).content).toEqual([{ type: 'text', text: 'Hello' }])
    })

    test('our server without stateless calls gets a session from a client that looks for them', async () => {
      const client = await theirs(connectV2Client({ mode: 'auto', over: 'http', server: { revisions: [...revisions] } }))
      expect(client.revision).toBe(NEWEST_SESSION)
      expect((await client.call('echo', { text: 'Hello' })).content).toEqual([{ type: 'text', text: 'Hello' }])
    })

    test('our stateless server tells a session client which revisions it speaks', async () => {
      const server = { revisions: [STATELESS] }
      await expect(connectV1Client(server, 'http')).rejects.toThrow(STATELESS)
      await expect(connectV2Client({ mode: 'legacy', over: 'http', server })).rejects.toThrow(STATELESS)
    })

    test('our session server refuses a stateless client', async () => {
      const server = { revisions: [...revisions] }
      await expect(connectV2Client({ mode: { pin: STATELESS }, over: 'http', server })).rejects.toThrow()
    })
  })
}
