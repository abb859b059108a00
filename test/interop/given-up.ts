/** Their clients come back for the rest of a stream that ended without an answer, unless they are told that there is none. */

import { Client as V2Client, StreamableHTTPClientTransport as V2Transport } from '@modelcontextprotocol/client'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listening, listen } from '../../src/http/index.ts'
import { everythingServer } from '../../src/testing/index.ts'
import { CLIENT_INFO } from './their-client.ts'

/** The time after which the server asks clients to come back. */
const RETRY_MS = 1_000

interface Settings {
  endpoint: URL
  fetch(url: string | URL, init?: RequestInit): Promise<Response>
  signal: AbortSignal
  onprogress(): void
}

/** Connects, and resolves with a call that is never answered and what closes the connection. */
const CLIENTS = {
  v1: async ({ endpoint, fetch, signal, onprogress }: Settings) => {
    const client = new V1Client(CLIENT_INFO)
    await client.connect(new V1Transport(endpoint, { fetch }) as Transport)
    const call = client.callTool({ name: 'speak_and_hold' }, undefined, { signal, onprogress })
    return { call, close: () => client.close() }
  },
  v2: async ({ endpoint, fetch, signal, onprogress }: Settings) => {
    const client = new V2Client(CLIENT_INFO)
    await client.connect(new V2Transport(endpoint, { fetch }))
    const call = client.callTool({ name: 'speak_and_hold' }, { signal, onprogress })
    return { call, close: () => client.close() }
  },
}

export function describeGivenUp(): void {
  describe('a call that is given up after it has reported progress', () => {
    let listening: Listening
    beforeAll(async () => {
      const server = everythingServer()
      server.tool('speak_and_hold', { description: 'Reports progress, and ends only when it is cancelled' }, async (_args, ctx) => {
        await ctx.progress(1, 2)
        return new Promise<never>((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      })
      listening = await listen(server)
    })
    afterAll(() => listening.close())

    test.each(['v1', 'v2'] as const)(
      'a call cancelled after progress is requested once more by the %s client, and then no more',
      async (version) => {
        const resumed: number[] = []
        const controller = new AbortController()
        const { call, close } = await CLIENTS[version]({
          endpoint: new URL(listening.url),
          fetch: async (url, init) => {
            const response = await fetch(url, init)
            if (new Headers(init?.headers).has('last-event-id')) resumed.push(response.status)
            return response
          },
          signal: controller.signal,
          onprogress: () => controller.abort('Enough'),
        })
        await expect(call).rejects.toThrow('Enough')
        await expect.poll(() => resumed.length, { timeout: 3 * RETRY_MS }).toBeGreaterThan(0)
        await new Promise((resolve) => setTimeout(resolve, 1.5 * RETRY_MS))
        expect(resumed).toEqual([204])
        await close()
      },
    )
  })
}
