/**
 * npm run proof: the long runs. Runs property and fault tests many times over, then `npm run mutants`, and prints the counts.
 * `npm run proof -- --factor 10` tries each property ten times as often as `npm test`. Default: 5.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { ledgerOf } from './proof-ledger.mjs'
import { countOf, readOptions, root, say, setUp } from './setup.mjs'

const values = readOptions(
  { factor: { type: 'string', default: '5' }, sample: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
  `npm run proof -- [--factor N] [--sample N] [--seed S]

  --factor N  try each property N times as often as npm test. Default: 5
  --sample N  number of faults for npm run mutants. Default: 60
  --seed S    choice of the faults. Default: 1

PORTICO_PROOF_SESSIONS (default: 1000), PORTICO_PROOF_EVENTS (100000) and PORTICO_PROOF_SUBSCRIBERS (10000) set the size of the runs with
replicas and Redis.`,
)
const factor = countOf('factor', values.factor)
countOf('sample', values.sample)

await setUp()
const files = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && /support\/proof\.ts|'fast-check'/.test(readFileSync(`${root}/test/${file}`, 'utf8')))
  .map((file) => `test/${file}`)
say(`running ${files.length} files of property and fault tests with ${factor} times the usual number of runs ...`)
const results = `${root}.cache/proof-results.json`
rmSync(results, { force: true })
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--testTimeout=1800000',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${results}`,
]
const began = Date.now()
const propertySeed = process.env.PORTICO_PROPERTY_SEED ?? String(began % 2 ** 31)
say(`set PORTICO_PROPERTY_SEED=${propertySeed} to repeat this run`)
const { status } = spawnSync(process.execPath, [...vitest, ...files], {
  cwd: root,
  stdio: ['ignore', process.stderr, 'inherit'],
  env: { ...process.env, PORTICO_PROOF_FACTOR: String(factor), PORTICO_PROPERTY_SEED: propertySeed },
})
console.log(`Counts of the long runs (${factor} times the usual number of runs, ${Math.round((Date.now() - began) / 1000)} s)`)
for (const line of ledgerOf(JSON.parse(readFileSync(results, 'utf8')))) console.log(line)

say('putting faults into the sources ...')
const mutants = spawnSync(process.execPath, ['scripts/mutants.mjs', '--sample', values.sample, '--seed', values.seed], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status === 0 && mutants.status === 0 ? 0 : 1
