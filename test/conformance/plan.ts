/** What is run of the suite: each leg at the revisions here, the same for whoever runs it and whoever looks for gaps. */

import { NOT_YET } from './not-yet.ts'
import type { Leg, Scenario } from './suite.ts'

export const REVISIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']

/** Extensions belong to no revision; these are the ones that their scenarios are run at. */
const EXTENSIONS_AT: Record<Leg, readonly string[]> = {
  server: ['2026-07-28'],
  client: ['2025-11-25', '2026-07-28'],
  authorization: [],
}

export const isNotYet = ({ name }: Scenario): boolean => Object.hasOwn(NOT_YET, name)

/** The revisions that a scenario is run at. */
export function runAt(scenario: Scenario): string[] {
  const wanted = scenario.revisions.length === 0 ? EXTENSIONS_AT[scenario.leg] : scenario.revisions
  return isNotYet(scenario) ? [] : REVISIONS.filter((revision) => wanted.includes(revision))
}

/** The names of what a leg runs at a revision. */
export const planned = (scenarios: readonly Scenario[], leg: Leg, revision: string): string[] =>
  scenarios.filter((scenario) => scenario.leg === leg && runAt(scenario).includes(revision)).map(({ name }) => name)
