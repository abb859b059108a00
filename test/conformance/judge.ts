/** Our own verdict on a scenario, stricter than the suite's: something was checked, nothing failed, nothing warned. */

import { NOT_YET } from './not-yet.ts'
import type { Check, SuiteRun } from './suite.ts'

/** Checks that the suite leaves out whatever we do, by scenario, with the beginning of what it says. */
const SKIPPED_FOR_A_REASON: Record<string, readonly string[]> = {
  // A client of this revision has no handshake.
  'http-standard-headers': ['Client did not send a initialize request', 'Client did not send a notifications/initialized request'],
}

const isExcused = (name: string, { status, errorMessage }: Check): boolean =>
  status === 'SKIPPED' && (SKIPPED_FOR_A_REASON[name] ?? []).some((start) => errorMessage?.startsWith(start))

/** What is wrong with the result of a scenario, one line each. */
export function faultsOf(name: string, checks: readonly Check[] | undefined): string[] {
  if (!checks) return ['the suite did not run it']
  const faults = checks
    .filter((check) => check.status !== 'SUCCESS' && check.status !== 'INFO' && !isExcused(name, check))
    .map(({ id, status, description, errorMessage }) => `${status} ${id}: ${errorMessage ?? description}`)
  if (!checks.some(({ status }) => status === 'SUCCESS')) faults.push('nothing was checked')
  return faults
}

/** What ran though it is not to be run yet, and passes: it has arrived. */
export const arrived = ({ checks }: SuiteRun): string[] =>
  [...checks].filter(([name, made]) => Object.hasOwn(NOT_YET, name) && faultsOf(name, made).length === 0).map(([name]) => name)

/** Scenarios and checks of all runs, as a table. */
export class Tally {
  readonly #rows: string[][] = []

  add(title: string, names: readonly string[], checks: ReadonlyMap<string, Check[]>): void {
    const all = names.flatMap((name) => checks.get(name) ?? [])
    const count = (wanted: Check['status']): string => String(all.filter(({ status }) => status === wanted).length)
    const passed = names.filter((name) => faultsOf(name, checks.get(name)).length === 0).length
    this.#rows.push([title, `${passed}/${names.length}`, count('SUCCESS'), count('FAILURE'), count('WARNING'), count('SKIPPED')])
  }

  toString(): string {
    const rows = [['', 'scenarios', 'checks ok', 'failed', 'warned', 'skipped'], ...this.#rows]
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
    return rows.map((row) => row.map((text, i) => (i === 0 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join('  ')).join('\n')
  }
}
