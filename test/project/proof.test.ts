/** The ledger of `npm run proof` calls nothing ok that a run could not check. */

import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { ledgerOf } from '../../scripts/proof-ledger.mjs'

test('the ledger of the long runs tells what failed and what a run could not prove', () => {
  const assertionResults = [
    { fullName: 'quiet', status: 'passed', meta: { counted: { runs: 1000 } } },
    { fullName: 'busy', status: 'passed', meta: { counted: { runs: 2 }, notProved: ['the longest wait: the machine was busy'] } },
    { fullName: 'broken', status: 'failed', meta: { counted: { runs: 3 }, notProved: ['the longest wait: the machine was busy'] } },
    { fullName: 'without counts', status: 'passed', meta: {} },
    { fullName: 'skipped', status: 'skipped' },
  ]
  expect(ledgerOf({ testResults: [{ assertionResults }] })).toEqual([
    'ok         quiet',
    '             1,000 runs',
    'NOT PROVED busy',
    '             not proved in this run: the longest wait: the machine was busy',
    '             2 runs',
    'FAILED     broken',
    '             not proved in this run: the longest wait: the machine was busy',
    '             3 runs',
    '1 of these tests did not prove everything: run them again on a machine that is less busy',
  ])
})
