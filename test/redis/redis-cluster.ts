/** A cluster of Redis servers: primaries, each with a replica. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import type { Certificate } from '../support/self-signed.ts'

const PRIMARIES = 3

export interface RedisCluster {
  readonly url: string
  readonly nodes: readonly RedisServer[]
  /** The primary that keeps a key. */
  primaryOf(key: string): Promise<RedisServer>
  /** All keys of all nodes, once each. Rejects if a node cannot be reached. */
  scan(): Promise<string[]>
  close(): Promise<void>
}

/** @param tls the cluster speaks only TLS, also among its nodes */
export async function startCluster(tls?: Certificate): Promise<RedisCluster> {
  const settings = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '1000',
    '--cluster-require-full-coverage',
    'no',
    '--repl-diskless-sync-delay',
    '0',
  ]
  const nodes = await Promise.all(Array.from({ length: PRIMARIES * 2 }, () => startRedis(settings, { tls })))
  const [first] = nodes as [RedisServer]
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  await first.cli('--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes')
  for (let attempt = 0; ; attempt++) {
    const states = await Promise.all(nodes.map(({ cli }) => cli('CLUSTER', 'INFO')))
    const copies = await Promise.all(nodes.map(({ cli }) => cli('INFO', 'replication')))
    const isReady = states.every((state) => state.includes('cluster_state:ok') && state.includes(`cluster_known_nodes:${nodes.length}`))
    // A replica that has no copy yet cannot become a primary.
    if (isReady && copies.filter((copy) => copy.includes('master_link_status:up')).length === PRIMARIES) break
    if (attempt > 200) throw new Error(`The cluster does not become ready:\n${states.join('\n')}`)
    await sleep(50)
  }
  return {
    url: `${tls ? 'rediss' : 'redis'}-cluster://${addresses.join(',')}`,
    nodes,
    primaryOf: async (key) => {
      const slot = Number(await first.cli('CLUSTER', 'KEYSLOT', key))
      const lines = (await first.cli('CLUSTER', 'NODES')).split('\n')
      const line = lines.find((each) => {
        const [, , flags, , , , , , ...ranges] = each.split(' ')
        return flags?.includes('master') && ranges.some((range) => isIn(slot, range))
      })
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(line ?? '')?.[1])
      return nodes.find((node) => node.port === port)!
    },
    scan: async () => {
      const names = await Promise.all(nodes.map((node) => node.scan()))
      return [...new Set(names.flat())]
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()))
    },
  }
}

function isIn(slot: number, range: string): boolean {
  const [from, to = from] = range.split('-').map(Number)
  return from !== undefined && to !== undefined && slot >= from && slot <= to
}
