/** The official suite against three replicas behind a balancer that chooses at random. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Tally } from '../conformance/judge.ts'
import { describeServerRun, SERVER_RUNS } from '../conformance/server-runs.ts'
import { listScenarios } from '../conformance/suite.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { isProof } from '../support/proof.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { LONG_LEASE_MS, type ReplicaGroup, startGroup } from './replica-group.ts'

/** `npm run proof` runs them all. */
const RUNS = isProof ? SERVER_RUNS : SERVER_RUNS.slice(2)

const redisServer = redisOfFile()
const scenarios = listScenarios()
const tally = new Tally()

describe.each(isProof ? ['auto', 'sse'] : ['auto'])('three replicas, answers %s,', (responses) => {
  let group: ReplicaGroup
  beforeAll(async () => {
    group = await startGroup({
      redisUrl: (await redisServer()).url,
      leaseMs: LONG_LEASE_MS,
      program: 'everything.mjs',
      responses: responses as 'auto' | 'sse',
    })
  }, INSTALL_MS)
  afterAll(() => group?.close())

  const title = (revision: string): string => `three replicas ${revision}, answers ${responses}`
  for (const run of RUNS) describeServerRun(run, { scenarios, tally, title, url: () => group.url })

  test('every replica had its share', () => {
    expect([...group.balancer.passed().values()].filter((count) => count > 10)).toHaveLength(3)
  })
})

afterAll(() => console.log(`Official conformance suite, three replicas:\n\n${tally}\n`))
