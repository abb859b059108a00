/** Which revision two sides come to speak, and what happens when there is none. */

import { afterEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { verdictMemory } from '../../src/client/dialect-memory.ts'
import type { ConnectOptions } from '../../src/client/options.ts'
import { connect } from '../../src/index.ts'
import type { Target } from '../../src/protocol/interfaces/link.ts'
import { processTarget } from '../../src/stdio/index.ts'
import { proves } from '../support/proves.ts'
import { everythingServer } from './everything.ts'
import { filesystemServer } from './filesystem.ts'
import { memoryServer } from './memory.ts'
import { connectOurClient, type ServerProcess } from './our-client.ts'
import { sdkServer } from './sdk-server.ts'
import type { TheirClient } from './their-client.ts'
import { connectV1Client } from './v1-client.ts'
import { connectV2Client } from './v2-client.ts'

const NEWEST_SESSION = '2025-11-25'
const STATELESS = '2026-07-28'

/** Connections to close when the test is over. */
const open: { close(): Promise<void> }[] = []
const closing = <T extends { close(): Promise<void> }>(connection: T): T => {
  open.push(connection)
  return connection
}

interface Sent {
  method: string
  params?: Record<string, unknown>
}

/** Our client's way to a server, with what it sent and whether it hung up. */
function tap(server: ServerProcess): { target: Target; sent: Sent[]; hasClosed(): boolean } {
  const sent: Sent[] = []
  let isClosed = false
  const inner = processTarget({ command: process.execPath, ...server })
  const target: Target = {
    ...inner,
    open: async () => {
      const link = await inner.open()
      const [send, close] = [link.send.bind(link), link.close.bind(link)]
      link.send = (json) => {
        sent.push(JSON.parse(json) as Sent)
        send(json)
      }
      link.close = async () => {
        await close()
        isClosed = true
      }
      return link
    },
  }
  return { target, sent, hasClosed: () => isClosed }
}

const reach = async (target: Target, options: ConnectOptions = {}): Promise<Client> =>
  closing(await connect(target, { memory: verdictMemory(), ...options }))

export function describeNegotiation(revisions: readonly string[]): void {
  afterEach(async () => {
    await Promise.all(open.splice(0).map((connection) => connection.close()))
  })

  describe('our client finds out what a server speaks', () => {
    test('a server without stateless calls refuses the probe, and a handshake follows', async () => {
      proves('T-VER-007', 'T-VER-008', 'T-LIFE-010')
      const { target, sent } = tap(sdkServer('v1'))
      const client = await reach(target, { info: { name: 'interop', version: '1.0.0' } })
      expect(client.revision).toBe(NEWEST_SESSION)
      expect(sent.map(({ method }) => method)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
      expect(sent[1]?.params).toMatchObject({
        protocolVersion: NEWEST_SESSION,
        capabilities: {},
        clientInfo: { name: 'interop', version: '1.0.0' },
      })
    })

    test('a server with stateless calls is spoken to without a handshake', async () => {
      const { target, sent } = tap(sdkServer('v2'))
      const client = await reach(target)
      expect(client.revision).toBe(STATELESS)
      await client.ping()
      expect(sent.map(({ method }) => method)).toEqual(['server/discover', 'server/discover'])
    })

    test('a remembered dialect saves the next connection the probe', async () => {
      const memory = verdictMemory()
      const first = tap(sdkServer('v1'))
      await reach(first.target, { memory })
      const second = tap(sdkServer('v1'))
      await reach(second.target, { memory })
      expect(second.sent[0]?.method).toBe('initialize')
    })

    test.each(revisions)('a client of %s alone opens with initialize and its three members', async (revision) => {
      proves('T-LIFE-004', 'T-VER-007')
      const { target, sent } = tap(sdkServer('v1'))
      const client = await reach(target, { revisions: [revision], answer: { elicit: () => ({ action: 'decline' }), roots: [] } })
      expect(client.revision).toBe(revision)
      expect(sent[0]).toMatchObject({
        method: 'initialize',
        params: { protocolVersion: revision, clientInfo: { name: 'portico' }, capabilities: { roots: { listChanged: true } } },
      })
      const { elicitation } = sent[0]!.params!.capabilities as { elicitation?: object }
      expect(elicitation !== undefined).toBe(revision >= '2025-06-18')
    })

    test.each([
      ['everything', everythingServer],
      ['filesystem', filesystemServer(process.cwd())],
      ['memory', memoryServer('/nowhere/memory.jsonl')],
    ] as const)('the reference server %s takes each older revision and works in it', async (_name, server) => {
      proves('T-VER-004', 'T-VER-005')
      await Promise.all(
        revisions.map(async (revision) => {
          const { client } = await connectOurClient(server, { revision })
          closing(client)
          expect(client.revision).toBe(revision)
          expect((await client.tools().all()).length).toBeGreaterThan(8)
          await client.ping()
        }),
      )
    })
  })

  describe('our client hangs up when there is no common revision', () => {
    test('our client ends the connection when it is stateless and the server wants a handshake', async () => {
      proves('T-VER-006', 'T-LIFE-036')
      const { target, sent, hasClosed } = tap(sdkServer('v1'))
      await expect(reach(target, { revisions: [STATELESS] })).rejects.toMatchObject({ name: 'McpError', code: 'ERR_VERSION_UNSUPPORTED' })
      expect(sent.map(({ method }) => method)).toEqual(['server/discover'])
      expect(hasClosed()).toBe(true)
    })

    test('our client ends the connection when the server answers with a newer revision', async () => {
      proves('T-VER-012', 'T-VER-013', 'T-LIFE-036')
      const { target, sent, hasClosed } = tap(sdkServer('v2', { supportedProtocolVersions: [NEWEST_SESSION] }))
      await expect(reach(target, { revisions: ['2024-11-05'] })).rejects.toMatchObject({
        code: 'ERR_VERSION_UNSUPPORTED',
        message: expect.stringContaining(`The server supports ${NEWEST_SESSION}`),
      })
      expect(sent.map(({ method }) => method)).toEqual(['initialize'])
      expect(hasClosed()).toBe(true)
    })

    test('our client ends the connection when it needs a session and the server has none', async () => {
      const { target, hasClosed } = tap(sdkServer('v2', { legacy: 'reject' }))
      await expect(reach(target, { revisions })).rejects.toMatchObject({ code: 'ERR_VERSION_UNSUPPORTED' })
      expect(hasClosed()).toBe(true)
    })
  })

  describe('our server answers with a revision it speaks', () => {
    const v1 = async (served?: string[]): Promise<TheirClient> => closing(await connectV1Client(served ? { revisions: served } : {}))

    test('our server answers with the requested revision if it speaks it', async () => {
      proves('T-VER-009')
      expect((await v1()).revision).toBe(NEWEST_SESSION)
    })

    test('our server answers with its newest revision if it does not speak the requested one', async () => {
      proves('T-VER-010', 'T-VER-011')
      expect((await v1(['2024-11-05', '2025-03-26'])).revision).toBe('2025-03-26')
    })

    test('a client that looks for stateless calls finds them', async () => {
      const client = closing(await connectV2Client({ mode: 'auto' }))
      expect(client.revision).toBe(STATELESS)
      expect((await client.call('echo', { text: 'Hello' })).content).toEqual([{ type: 'text', text: 'Hello' }])
    })

    test('a client that looks for stateless calls where there are none falls back to a session', async () => {
      const client = closing(await connectV2Client({ mode: 'auto', server: { revisions: [...revisions] } }))
      expect(client.revision).toBe(NEWEST_SESSION)
      expect((await client.call('echo', { text: 'Hello' })).content).toEqual([{ type: 'text', text: 'Hello' }])
    })

    test('a session client gets the list of revisions that a stateless server speaks', async () => {
      const served = { revisions: [STATELESS] }
      const refusal = { data: { supported: [STATELESS], requested: NEWEST_SESSION } }
      await expect(connectV1Client(served)).rejects.toMatchObject(refusal)
      await expect(connectV2Client({ mode: 'legacy', server: served })).rejects.toMatchObject(refusal)
    })

    test('a stateless client is refused by a session server', async () => {
      await expect(connectV2Client({ mode: { pin: STATELESS }, server: { revisions: [...revisions] } })).rejects.toThrow()
    })
  })
}
