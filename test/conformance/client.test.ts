/** The official suite against our fixture client, one scenario at a time: in groups it ignores how a client exits. */

import { afterAll, describe, expect, test } from 'vitest'
import { faultsOf, isNotYet, Tally } from './judge.ts'
import { root } from './node24.ts'
import { type Check, listScenarios, runSuite, type Scenario } from './suite.ts'

const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
/** Extensions belong to no revision; these are the ones that requirement sets run them at. */
const EXTENSIONS_AT = ['2025-11-25', '2026-07-28']

// The suite gives the command to a shell, and appends where its server is.
const command = `"${process.execPath}" "${root}scripts/fixture-client.mjs"`

const scenarios = listScenarios().filter((scenario) => scenario.leg === 'client' && !isNotYet(scenario))
const tally = new Tally()

test('the revisions are all that the suite has scenarios for', () => {
  expect([...new Set(scenarios.flatMap(({ revisions }) => revisions))].sort()).toEqual(REVISIONS)
})

describe.each(REVISIONS)('our client at %s', (revision) => {
  const isAt = ({ revisions }: Scenario): boolean => (revisions.length === 0 ? EXTENSIONS_AT : revisions).includes(revision)
  const names = scenarios.filter(isAt).map(({ name }) => name)
  const checks = new Map<string, Check[]>()
  afterAll(() => tally.add(`client ${revision}`, names, checks))

  test.each(names)(
    '%s',
    async (name) => {
      const run = await runSuite('client', ['--command', command, '--scenario', name, '--spec-version', revision, '--force'])
      for (const [scenario, made] of run.checks) checks.set(scenario, made)
      expect(faultsOf(name, run.checks.get(name)), run.output).toEqual([])
      // It fails when the client did not end by itself, or ended with an error that the scenario has no use for.
      expect(run.exitCode, run.output).toBe(0)
    },
    40_000,
  )
})

afterAll(() => console.log(`Official conformance suite, client:\n\n${tally}\n`))
