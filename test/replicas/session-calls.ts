/** Three replicas and a Redis for the tests of one file, and what these tests ask of their sessions. */

import { afterAll, beforeAll, describe, onTestFinished } from 'vitest'
import { type Asked, callTool, type HttpSession, STREAMABLE, sessionAt, WATCHED } from '../support/http-service.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { isProof } from '../support/proof.ts'
import { type RedisServer, redisOfFile } from '../support/redis-server.ts'
import { type Front, type ReplicaGroup, type ReplicaProcess, startGroup } from './replica-group.ts'

/** What the documentation promises after the end of a lease. */
export const AFTER_LEASE_MS = 2000
/** The time limit of a test. */
export const LONG = isProof ? 3_600_000 : 60_000

export interface GroupOfFile {
  front: Front
  /** False: only the tests run whose subject is how requests are spread. Behind nginx `npm run proof` runs all of them. */
  isFull: boolean
  /** Keeps its data when it is stopped and started. */
  server(): Promise<RedisServer>
  group(): ReplicaGroup
  /** One that the balancer knows. */
  randomReplica(): ReplicaProcess
  /** A replica that the balancer does not know, so that its death touches no other session. */
  startVictim(): Promise<ReplicaProcess>
  /** The session at this replica. */
  at(replica: ReplicaProcess, session: HttpSession): HttpSession
  /** The session as three clients see it whose requests reach three replicas, if they make one request each, one after the other. */
  apart(session: HttpSession): [HttpSession, HttpSession, HttpSession]
}

/** Defines the tests of a file once for each front. */
export function behindEach(define: (file: GroupOfFile) => void): void {
  describe('behind a balancer that chooses at random', () => define(groupOfFile('random')))
  describe('behind nginx, which takes the replicas in turn', () => define(groupOfFile('nginx')))
}

function groupOfFile(front: Front): GroupOfFile {
  const server = redisOfFile(['--appendonly', 'yes', '--appendfsync', 'everysec'])
  let group: ReplicaGroup
  beforeAll(async () => {
    group = await startGroup({ redisUrl: (await server()).url, front })
  }, INSTALL_MS)
  afterAll(() => group?.close())
  const at = ({ port }: ReplicaProcess, session: HttpSession): HttpSession => {
    const { url, headers } = group.balancer.to(port)
    return sessionAt(url, session.id, { ...session.headers, ...headers })
  }
  return {
    front,
    isFull: isProof || front === 'random',
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
    at,
    apart: (session) => {
      // nginx does it by itself. The test checks that it did.
      const [first, second, third] = [...group.replicas].map((replica) => (front === 'nginx' ? session : at(replica, session)))
      return [first, second, third] as [HttpSession, HttpSession, HttpSession]
    },
  }
}

/** @param run a name; the replica then prints each number that the store has accepted */
export const count = (to: number, ms: number, run = ''): Asked => ({ ...callTool('count', { to, ms, run }, WATCHED), id: 1 })

export const inEach = <T>(run: (version: string) => Promise<T>): Promise<T[]> => Promise.all(STREAMABLE.map(run))

export const progressOf = (messages: { params?: { progress?: number } }[]): (number | undefined)[] =>
  messages.flatMap(({ params }) => (params?.progress === undefined ? [] : [params.progress]))

export const upTo = (number: number): number[] => Array.from({ length: number }, (_, i) => i + 1)
