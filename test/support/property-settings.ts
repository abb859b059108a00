/**
 * Settings of every property. `npm test` always tries the same cases, so that a run fails because of what was changed.
 * `npm run proof` tries more cases, new ones each time, and prints the seed, which `PORTICO_PROPERTY_SEED` repeats.
 */

import fc from 'fast-check'

const { PORTICO_PROPERTY_SEED: seed = '20261116', PORTICO_PROOF_FACTOR: factor = '1' } = process.env
fc.configureGlobal({ seed: Number(seed), numRuns: 100 * Number(factor) })
