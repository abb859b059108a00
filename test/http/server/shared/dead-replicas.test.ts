/** What is told and counted of the requests of a replica that has ended. */

import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../../../src/base/clock.ts'
import { notices } from '../../../../src/base/notices.ts'
import { DeadReplicas, type TakenOverCounts } from '../../../../src/http/server/shared/dead-replicas.ts'
import type { LateEnd } from '../../../../src/http/server/shared/late-ends.ts'
import type { ReplicaServices } from '../../../../src/http/server/shared/replica-services.ts'
import type { RunningCalls } from '../../../../src/http/server/shared/running-calls.ts'
import type { Appended, Batch, DeadReplica } from '../../../../src/store/index.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

type Restarted = Awaited<ReturnType<RunningCalls['restart']>>

const CALL = JSON.stringify({ ids: [1], isBatch: false })

/** Looks once. The name of each stream says what becomes of it: how its restart ends, then what the store says to the error. */
async function lookAt(parts: [replica: string, streams: [Restarted | 'broken', (Appended | 'refused')?][]][], isHeld = true, call = CALL) {
  const lines: string[] = []
  vi.spyOn(notices, 'write').mockImplementation((level, line) => void lines.push(`${level} ${line}`))
  const claims = parts.map(
    ([replica, streams]): DeadReplica => ({
      replica,
      streams: streams.map((stream) => ({ sid: 's', stream: JSON.stringify(stream) })),
    }),
  )
  const counted: TakenOverCounts[] = []
  const late: LateEnd[] = []
  const reports: unknown[] = []
  const ended: unknown[] = []
  const services = {
    clock: systemClock,
    tails: { wake: () => {} },
    nextBatch: () => 1,
    store: {
      replica: { claimDead: async () => claims.shift(), isHeld },
      streams: {
        takeOver: async () => ({ epoch: 1, call, journal: {}, answers: {}, questions: [] }),
        append: async (_sid: string, stream: string, { events }: Batch) => {
          ended.push(events)
          const [, appended] = JSON.parse(stream) as [Restarted, Appended | 'refused']
          if (appended === 'refused') throw new Error('refused')
          return appended
        },
      },
    },
    lateEnds: { add: (end: LateEnd) => void late.push(end) },
    report: (error: Error) => void reports.push(error.message),
  } as unknown as ReplicaServices
  const restart = async (_sid: string, stream: string): Promise<Restarted> => {
    const [outcome] = JSON.parse(stream) as [Restarted | 'broken']
    if (outcome === 'broken') throw new Error('broken')
    return outcome
  }
  const dead = new DeadReplicas(services, { restart } as unknown as RunningCalls, (counts) => counted.push({ ...counts }))
  const failure = await dead.look().catch((error: Error) => error.message)
  return { failure, counted, late, lines, reports, ended }
}

const ADDED: Appended = { positions: ['1-1'], reader: undefined }

test('a replica that had more requests than are claimed at once is told and counted once', async () => {
  const { lines, counted } = await lookAt([
    ['a', [['runAgain'], ['lost', ADDED]]],
    ['a', [['runAgain']]],
    ['b', [['runAgain']]],
  ])
  expect(lines).toEqual([
    'warn portico: took over from replica a: 2 requests run again here, 1 got the error replica_lost',
    'info portico: took over from replica b: 1 request runs again here, 0 got the error replica_lost',
  ])
  expect(counted).toEqual([
    { runAgain: 2, lost: 1 },
    { runAgain: 1, lost: 0 },
  ])
})

test('requests that another replica took over since, or that are over, count as nothing', async () => {
  const { lines, counted } = await lookAt([['a', [['fenced'], ['lost', 'gone'], ['lost', 'fenced'], ['cancelled', ADDED]]]])
  expect([lines, counted]).toEqual([[], []])
})

test('a request that cannot begin again gets the error, so that its client does not wait for ever', async () => {
  const { failure, counted } = await lookAt([['a', [['broken', ADDED], ['runAgain']]]])
  expect([failure, counted]).toEqual([undefined, [{ runAgain: 1, lost: 1 }]])
})

test('a request that fails after the lease was lost is reported after the others are told', async () => {
  const { failure, lines, counted } = await lookAt([['a', [['broken'], ['had all runs', ADDED], ['runAgain']]]], false)
  expect([failure, lines.length, counted]).toEqual(['broken', 1, [{ runAgain: 1, lost: 1 }]])
})

test('a request whose error the store refuses is ended later, and does not stop the others', async () => {
  const { failure, late, counted, reports } = await lookAt([
    ['a', [['lost', 'refused']]],
    ['b', [['runAgain']]],
  ])
  expect([failure, counted, reports, late]).toEqual([
    undefined,
    [{ runAgain: 1, lost: 0 }],
    ['refused'],
    [expect.objectContaining({ sid: 's', epoch: 1, json: expect.stringContaining('replica_lost') })],
  ])
})

test('a store that gives a request again that cannot be taken over is not asked for ever', async () => {
  const damaged: [string, [Restarted, 'refused'][]] = ['a', [['lost', 'refused']]]
  const { failure, reports } = await lookAt([damaged, damaged, damaged])
  expect([failure, reports]).toEqual([undefined, ['refused']])
})

test('a request that nobody can read ends without an answer', async () => {
  const { counted, ended, reports } = await lookAt([['a', [['lost', ADDED], ['runAgain']]]], true, 'no JSON')
  expect([counted, ended, reports.length]).toEqual([[], [[], []], 2])
})
