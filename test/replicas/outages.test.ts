/** Clients of the official SDKs whose standing stream ends because Redis is away for longer than a lease. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StreamableHTTPClientTransport as TransportV2, Client as V2 } from '@modelcontextprotocol/client'
import { Client as V1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished, test } from 'vitest'
import { redisOfFile } from '../support/redis-server.ts'
import { until } from '../support/until.ts'
import { LEASE_MS, type ReplicaProcess, startGroup } from './replica-group.ts'

const server = redisOfFile()
const INFO = { name: 'outages', version: '1' }

interface Subscriber {
  /** The resources that it heard of. */
  heard: string[]
  subscribe(uri: string): Promise<unknown>
  close(): Promise<void>
}

/** Counts the streams that it opened. */
function countingFetch() {
  const counts = { opened: 0 }
  const counting = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init)
    if (init?.method === 'GET' && response.ok) counts.opened++
    return response
  }
  return { counts, counting }
}

async function connectV1(url: string, counting: typeof fetch): Promise<Subscriber> {
  const client = new V1(INFO)
  const heard: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
  await client.connect(new TransportV1(new URL(url), { fetch: counting }) as Transport)
  return { heard, subscribe: (uri) => client.subscribeResource({ uri }), close: () => client.close() }
}

async function connectV2(url: string, counting: typeof fetch): Promise<Subscriber> {
  const client = new V2(INFO, { versionNegotiation: { mode: 'legacy' } })
  const heard: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
  await client.connect(new TransportV2(new URL(url), { fetch: counting }))
  return { heard, subscribe: (uri) => client.subscribeResource({ uri }), close: () => client.close() }
}

test.each([
  ['v1', connectV1],
  ['v2', connectV2],
] as const)('a client of the SDK %s hears of changes again after an outage of two leases', async (_, connect) => {
  const redis = await server()
  const group = await startGroup({ redisUrl: redis.url, count: 2 })
  onTestFinished(() => group.close())
  const { counts, counting } = countingFetch()
  const client = await connect(group.url, counting as typeof fetch)
  onTestFinished(() => client.close())
  await client.subscribe('note://1')
  await until(() => counts.opened === 1)
  const [announcer] = [...group.replicas] as [ReplicaProcess]
  announcer.tell('changed note://1')
  await until(() => client.heard.length === 1)

  redis.process.kill('SIGSTOP')
  // The length of the outage. It is what is tested.
  await sleep(2 * LEASE_MS)
  announcer.tell('changed note://1')
  redis.process.kill('SIGCONT')
  await until(() => client.heard.length === 2, 20_000)
  expect(client.heard).toEqual(['note://1', 'note://1'])
})
