/** Three replicas and a Redis for the tests of one file, and what these tests ask of their sessions. */

import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Asked, callTool, type HttpSession, STREAMABLE, sessionAt, WATCHED } from '../support/http-service.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { isProof } from '../support/proof.ts'
import { type RedisServer, redisOfFile } from '../support/redis-server.ts'
import { type ReplicaGroup, type ReplicaProcess, startGroup } from './replica-group.ts'

/** What the documentation promises after the end of a lease. */
export const AFTER_LEASE_MS = 2000
/** The time limit of a test. */
export const LONG = isProof ? 3_600_000 : 60_000

export interface GroupOfFile {
  /** Keeps its data when it is stopped and started. */
  server(): Promise<RedisServer>
  group(): ReplicaGroup
  /** One that the balancer knows. */
  randomReplica(): ReplicaProcess
  /** A replica that the balancer does not know, so that its death touches no other session. */
  startVictim(): Promise<ReplicaProcess>
}

export function groupOfFile(): GroupOfFile {
  const server = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'everysec'])
  let group: ReplicaGroup
  beforeAll(async () => {
    group = await startGroup({ redisUrl: (await server()).url })
  }, INSTALL_MS)
  afterAll(() => group?.close())
  return {
    server,
    group: () => group,
    randomReplica: () => {
      const all = [...group.replicas].filter(({ port }) => group.balancer.ports.has(port))
      return all[Math.floor(Math.random() * all.length)] as ReplicaProcess
    },
    startVictim: async () => {
      const victim = await group.start(false)
      onTestFinished(() => victim.end('SIGKILL'))
      return victim
    },
  }
}

export const at = ({ url }: { url: string }, { id, headers }: HttpSession): HttpSession => sessionAt(url, id, headers)

/** @param run a name; the replica then prints each number that the store has accepted */
export const count = (to: number, ms: number, run = ''): Asked => ({ ...callTool('count', { to, ms, run }, WATCHED), id: 1 })

export const inEach = <T>(run: (version: string) => Promise<T>): Promise<T[]> => Promise.all(STREAMABLE.map(run))

export const progressOf = (messages: { params?: { progress?: number } }[]): (number | undefined)[] =>
  messages.flatMap(({ params }) => (params?.progress === undefined ? [] : [params.progress]))

export const upTo = (number: number): number[] => Array.from({ length: number }, (_, i) => i + 1)
