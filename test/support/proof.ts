/** What tests share that run longer, and tell what they counted, under `npm run proof`. */

import { TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Numbers for the ledger of `npm run proof`. */
    counted?: Record<string, number>
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
  const current = TestRunner.getCurrentTest()
  if (current === undefined) throw new Error('counted() must be called inside a test')
  const ledger = { ...current.meta.counted }
  for (const [name, number] of Object.entries(numbers)) ledger[name] = (ledger[name] ?? 0) + number
  current.meta.counted = ledger
}
