/** The official suite against three replicas behind a balancer that chooses at random. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultsOf, Tally } from '../conformance/judge.ts'
import { planned } from '../conformance/plan.ts'
import { expectedFailures, listScenarios, runSuite, type SuiteRun } from '../conformance/suite.ts'
import { isProof } from '../support/proof.ts'
import { redisOfFile } from '../support/redis-server.ts'
import { LONG_LEASE_MS, type ReplicaGroup, startGroup } from './replica-group.ts'

const LONG = 300_000
const ALL = [
  { revision: '2025-03-26', args: ['--suite', 'all', '--spec-version', '2025-03-26'] },
  { revision: '2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'] },
  { revision: '2025-11-25', args: ['--requirements', '2025-11-25'] },
  { revision: '2026-07-28', args: ['--requirements', '2026-07-28'] },
]
/** `npm run proof` runs them all. */
const RUNS = isProof ? ALL : ALL.slice(2)

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
  }, LONG)
  afterAll(() => group?.close())

  describe.each(RUNS)('at $revision', ({ revision, args }) => {
    // The scenarios for skills need no session, and are run without replicas.
    const names = planned(scenarios, 'server', revision).filter((name) => !name.startsWith('sep-2640-'))
    let run: SuiteRun
    beforeAll(async () => {
      run = await runSuite('server', ['--url', group.url, ...args, '--expected-failures', expectedFailures])
      tally.add(`three replicas ${revision}, answers ${responses}`, names, run.checks)
    }, LONG)

    test.each(names)('the scenario %s passes', (name) => {
      expect(faultsOf(name, run.checks.get(name))).toEqual([])
    })

    test('the suite is content as well', () => {
      expect(run.exitCode, run.output.slice(-2000)).toBe(0)
    })
  })

  test('every replica had its share', () => {
    expect([...group.balancer.passed.values()].filter((count) => count > 10)).toHaveLength(3)
  })
})

afterAll(() => console.log(`Official conformance suite, three replicas:\n\n${tally}\n`))
