/** The official suite against our fixture client, one scenario at a time: in groups it ignores how a client exits. */

import { afterAll, describe, expect, test } from 'vitest'
import { faultsOf, Tally } from './judge.ts'
import { root } from './node24.ts'
import { planned, REVISIONS } from './plan.ts'
import { type Check, listScenarios, runSuite } from './suite.ts'

// The suite gives the command to a shell, and appends where its server is.
const command = `"${process.execPath}" "${root}scripts/fixture-client.mjs"`

const scenarios = listScenarios()
const tally = new Tally()

describe.each(REVISIONS)('our client at %s', (revision) => {
  const names = planned(scenarios, 'client', revision)
  const checks = new Map<string, Check[]>()
  afterAll(() => tally.add(`client ${revision}`, names, checks))

  test.each(names)(
    'the scenario %s passes',
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
