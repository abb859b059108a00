/** The official suite against our fixture server, at every revision it has scenarios for. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ListeningProcess, startListening } from '../support/listening-process.ts'
import { Tally } from './judge.ts'
import { root } from './node24.ts'
import { NOT_YET } from './not-yet.ts'
import { isNotYet, REVISIONS, runAt } from './plan.ts'
import { describeServerRun, SERVER_RUNS } from './server-runs.ts'
import { expectedFailures, listScenarios } from './suite.ts'

const LONG = 60_000

const scenarios = listScenarios()
const tally = new Tally()

describe('what is run', () => {
  test('the scenarios that run and those that do not run yet are all that the suite has', () => {
    expect(SERVER_RUNS.map(({ revision }) => revision)).toEqual(REVISIONS)
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

  const title = (revision: string): string => `server ${revision}, answers ${responses}`
  for (const run of SERVER_RUNS) describeServerRun(run, { scenarios, tally, title, url: () => server.url })
})

afterAll(() => console.log(`Official conformance suite, server:\n\n${tally}\n`))
