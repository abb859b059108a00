/** The official suite against a server, whoever runs it: every planned scenario passes, and nothing else ran. */

import { beforeAll, describe, expect, test } from 'vitest'
import { arrived, faultsOf, type Tally } from './judge.ts'
import { NOT_YET } from './not-yet.ts'
import { planned } from './plan.ts'
import { expectedFailures, runSuite, type Scenario, type SuiteRun } from './suite.ts'

const LONG = 300_000

/** A requirement set also fixes the revision on the wire; the older revisions have no sets. */
export const SERVER_RUNS = [
  { revision: '2025-03-26', args: ['--suite', 'all', '--spec-version', '2025-03-26'] },
  { revision: '2025-06-18', args: ['--suite', 'all', '--spec-version', '2025-06-18'] },
  { revision: '2025-11-25', args: ['--requirements', '2025-11-25'] },
  { revision: '2026-07-28', args: ['--requirements', '2026-07-28'] },
]

/** The sets of requirements do not contain the scenarios for skills. */
const isOnlyByName = (name: string): boolean => name.startsWith('sep-2640-')

export interface TestedServer {
  scenarios: readonly Scenario[]
  tally: Tally
  /** Names the server in the tally. */
  title: (revision: string) => string
  /** Called when the server runs. */
  url: () => string
}

/** Defines the tests of one revision. */
export function describeServerRun(run: (typeof SERVER_RUNS)[number], { scenarios, tally, title, url }: TestedServer): void {
  const { revision, args } = run
  describe(`at ${revision}`, () => {
    const names = planned(scenarios, 'server', revision)
    let made: SuiteRun
    beforeAll(async () => {
      made = await runSuite('server', ['--url', url(), ...args, '--expected-failures', expectedFailures])
      for (const name of names.filter(isOnlyByName)) {
        const alone = await runSuite('server', ['--url', url(), '--scenario', name, '--spec-version', revision, '--force'])
        for (const [scenario, checks] of alone.checks) made.checks.set(scenario, checks)
        made.exitCode ||= alone.exitCode
        made.output += alone.output
      }
      tally.add(title(revision), names, made.checks)
    }, LONG)

    test.each(names)('the scenario %s passes', (name) => {
      expect(faultsOf(name, made.checks.get(name))).toEqual([])
    })

    test('the suite is content as well, and ran nothing we do not look at', () => {
      expect(made.exitCode, made.output.slice(-2000)).toBe(0)
      expect([...made.checks.keys()].filter((name) => !names.includes(name) && !Object.hasOwn(NOT_YET, name))).toEqual([])
      expect(arrived(made)).toEqual([])
    })
  })
}
