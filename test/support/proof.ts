/** What tests share that run longer, and tell what they counted, under `npm run proof`. */

import { type TaskMeta, TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Numbers for the ledger of `npm run proof`. */
    counted?: Record<string, number>
    /** What this run could not prove, and why. */
    notProved?: string[]
  }
}

/** How many times a property is tried: `usual` in `npm test`, more under `npm run proof`. */
export function proofRuns(usual: number): number {
  return usual * Number(process.env.PORTICO_PROOF_FACTOR ?? 1)
}

/** True under `npm run proof`. */
export const isProof = process.env.PORTICO_PROOF_FACTOR !== undefined

/** How large a run is: `usual` in `npm test`, `full` under `npm run proof`. PORTICO_PROOF_ and the name set another size. */
export function proofSize(name: string, usual: number, full: number): number {
  return Number(process.env[`PORTICO_PROOF_${name}`] ?? (isProof ? full : usual))
}

/**
 * Writes numbers into the ledger. A name given twice in a test is added up.
 *
 * @example
 * counted({ connections: 4000, 'slots not given back': 0 })
 */
export function counted(numbers: Record<string, number>): void {
  const meta = currentMeta('counted')
  const ledger = { ...meta.counted }
  for (const [name, number] of Object.entries(numbers)) ledger[name] = (ledger[name] ?? 0) + number
  meta.counted = ledger
}

/** Says in the ledger what this run could not check, and why. The test does not fail, and `npm run proof` does not call it ok. */
export function notProved(what: string): void {
  const meta = currentMeta('notProved')
  meta.notProved = [...(meta.notProved ?? []), what]
}

function currentMeta(caller: string): TaskMeta {
  const current = TestRunner.getCurrentTest()
  if (current === undefined) throw new Error(`${caller}() must be called inside a test`)
  return current.meta
}
