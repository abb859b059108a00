/** The table of runtimes, from the last run of all tests: what worked on each, by transport and revision. `npm test` prints it. */

import { readFileSync } from 'node:fs'
import { testResults as results, say } from './setup.mjs'

const TRANSPORTS = ['stdio', 'listen', 'httpHandler', 'client']
const REVISIONS = ['2025-11-25', '2026-07-28']

const { testResults } = JSON.parse(readFileSync(results, 'utf8'))
const rows = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ meta }) => meta?.runtime).filter(Boolean))

/** `yes`, `-` where the runtime has no such transport, or the steps that do not work. */
function cell(steps) {
  if (steps === undefined) return '-'
  const missing = Object.keys(steps).filter((name) => steps[name] !== true)
  return missing.length === 0 ? 'yes' : `no ${missing.join(', ')}`
}

const columns = TRANSPORTS.flatMap((transport) => REVISIONS.map((revision) => `${transport} ${revision}`))
const table = [
  ['runtime', ...TRANSPORTS.flatMap((transport) => [transport, ''])],
  ['', ...TRANSPORTS.flatMap(() => REVISIONS)],
  ...rows.map(({ name, outcome }) => [name, ...columns.map((column) => cell(outcome[column]))]),
]
const widths = table[0].map((_, i) => Math.max(...table.map((cells) => cells[i].length)))
console.log('\nRuntimes: each cell says whether connecting, calling, progress and a question of the server work')
for (const cells of table)
  console.log(
    cells
      .map((text, i) => text.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  )
if (rows.length === 0) {
  say('no test of a runtime has run')
  process.exitCode = 1
}
