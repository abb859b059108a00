/** The official suite against our fixture server, at every revision it has scenarios for. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListeningProcess, startListening } from '../support/listening-process.ts'
import { arrived, faultsOf, Tally } from './judge.ts'
import { root } from './node24.ts'
import { NOT_YET } from './not-yet.ts'
import { isNotYet, planned, REVISIONS, runAt } from './plan.ts'
import { expectedFailures, listScenarios, runSuite, type SuiteRun } from './suite.ts'

const LONG = 60_000

/** A requirement set also fixes the revision on the wire; the older revisions have no sets. */
const RUNS = [
  { revision: '2025-03-26', args: ['--suite', 'all', '--spec-version', '2025-03-26'] },
  { revision: '2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'] },
  { revision: '2025-11-25', args: ['--requirements', '2025-11-25'] },
  { revision: '2026-07-28', args: ['--requirements', '2026-07-28'] },
]

/** The sets of requirements do not contain the scenarios for skills. */
const isOnlyByName = (name: string): boolean => name.startsWith('sep-2640-')

const scenarios = listScenarios()
const tally = new Tally()

describe('what is run', () => {
  test('the scenarios that run and those that do not run yet are all that the suite has', () => {
    expect(RUNS.map(({ revision }) => revision)).toEqual(REVISIONS)
    for (const leg of ['server', 'client', 'authorization']) {
      const applicable = scenarios.filter((scenario) => scenario.leg === leg).flatMap(({ revisions }) => revisions)
      expect([...new Set(applicable)].sort(), leg).toEqual(REVISIONS)
    }
    expect(scenarios.filter((scenario) => runAt(scenario).length === 0 && !isNotYet(scenario))).toEqual([])
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(NOT_YET)))
  })

  test('every scenario that runs is expected to pass', () => {
    expect(JSON.parse(readFileSync(expectedFailures, 'utf8'))).toEqual({ server: [], client: [] })
  })
})

// A server may answer any request with a stream of events, so every scenario must hold in both ways of answering.
describe.each(['auto', 'sse'])('our server, answers %s,', (responses) => {
  let server: ListeningProcess
  beforeAll(async () => {
    server = await startListening([`${root}scripts/fixture-server.mjs`, '--responses', responses])
  }, LONG)
  afterAll(async () => {
    expect(await server.stop()).toBe(0)
  })

  describe.each(RUNS)('at $revision', ({ revision, args }) => {
    const names = planned(scenarios, 'server', revision)
    let run: SuiteRun
    beforeAll(async () => {
      run = await runSuite('server', ['--url', server.url, ...args, '--expected-failures', expectedFailures])
      for (const name of names.filter((each) => isOnlyByName(each))) {
        const alone = await runSuite('server', ['--url', server.url, '--scenario', name, '--spec-version', revision, '--force'])
        for (const [scenario, made] of alone.checks) run.checks.set(scenario, made)
        run.exitCode ||= alone.exitCode
        run.output += alone.output
      }
      tally.add(`server ${revision}, answers ${responses}`, names, run.checks)
    }, LONG)

    test.each(names)('the scenario %s passes', (name) => {
      expect(faultsOf(name, run.checks.get(name))).toEqual([])
    })

    test('the suite is content as well, and ran nothing we do not look at', () => {
      expect(run.exitCode, run.output.slice(-2000)).toBe(0)
      expect([...run.checks.keys()].filter((name) => !names.includes(name) && !Object.hasOwn(NOT_YET, name))).toEqual([])
      expect(arrived(run)).toEqual([])
    })
  })
})

afterAll(() => console.log(`Official conformance suite, server:\n\n${tally}\n`))
