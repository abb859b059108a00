/** npm run trace: prints which requirements are proved by passed tests, by area and level. */

import { existsSync, readFileSync } from 'node:fs'
import { testResults as results, root, runAllTests, say, setUp } from './setup.mjs'

const isSummary = process.argv.includes('--summary')

if (!existsSync(results)) {
  say('there are no test results yet; running all tests ...')
  await setUp()
  runAllTests({ stdio: ['ignore', process.stderr, 'inherit'] })
}

/** Two files: requirements of the first documents, and those of all five revisions and their extensions. */
const matrices = ['requirements/requirements.tsv', 'requirements/requirements-2.tsv'].map((file) => ({ file, rows: readTable(file) }))
const rows = matrices.flatMap((matrix) => matrix.rows)
const reasons = new Map(readTable('requirements/unproved.tsv').map(({ id, reason }) => [id, reason]))
const { proved, unknown, ranAt, tests } = readResults(new Set(rows.map(({ id }) => id)))

console.log(`Requirements proved by ${tests} passed tests (run of ${ranAt}); each cell: proved/all`)
for (const matrix of matrices) printTable(matrix)
console.log('\nexplained: requirements/unproved.tsv says why no test proves it; open: neither proved nor explained')
if (!isSummary) printUncovered()
if (unknown.size > 0) {
  say(`tests name unknown requirements: ${[...unknown].join(', ')}`)
  process.exitCode = 1
}

function readTable(file) {
  const [header, ...lines] = readFileSync(`${root}/${file}`, 'utf8').trimEnd().split('\n')
  const names = header.split('\t')
  return lines.map((line) => Object.fromEntries(line.split('\t').map((cell, i) => [names[i], cell])))
}

/** A requirement is proved by a passed test that names it: with `proves()`, or in its full title (transcripts do this). */
function readResults(known) {
  const { testResults, startTime } = JSON.parse(readFileSync(results, 'utf8'))
  const passed = new Map()
  const unknown = new Set()
  let tests = 0
  for (const { assertionResults } of testResults) {
    for (const { fullName, status, meta } of assertionResults) {
      const named = [...fullName.matchAll(/[TR]-[A-Z0-9]+-\d{3}/g)].map(([id]) => id)
      for (const id of new Set([...named, ...(meta?.proves ?? [])])) {
        if (!known.has(id)) unknown.add(id)
        else if (status === 'passed') passed.set(id, (passed.get(id) ?? 0) + 1)
      }
      if (status === 'passed') tests++
    }
  }
  return { proved: passed, unknown, ranAt: new Date(startTime).toISOString(), tests }
}

function printTable({ file, rows }) {
  const levels = ['MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT', 'MAY', 'FACT']
  const areas = [...new Set(rows.map(({ id }) => id.split('-')[1]))]
  const cell = (matching) => (matching.length === 0 ? '-' : `${matching.filter(({ id }) => proved.has(id)).length}/${matching.length}`)
  const line = (name, matching) => {
    const missing = matching.filter(({ id }) => !proved.has(id))
    const explained = missing.filter(({ id }) => reasons.has(id)).length
    return [
      name,
      ...levels.map((level) => cell(matching.filter((row) => row.level === level))),
      cell(matching),
      String(explained),
      String(missing.length - explained),
    ]
  }
  const table = [
    ['area', ...levels, 'all', 'explained', 'open'],
    ...areas.map((area) =>
      line(
        area,
        rows.filter(({ id }) => id.split('-')[1] === area),
      ),
    ),
    line('all', rows),
  ]
  const widths = table[0].map((_, i) => Math.max(...table.map((cells) => cells[i].length)))
  console.log(`\n${file}`)
  for (const cells of table) console.log(cells.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  '))
}

function printUncovered() {
  const missing = rows.filter(({ id }) => !proved.has(id))
  if (missing.length > 0) console.log('\nNot proved:')
  for (const { id, level, requirement } of missing)
    console.log(`${id}  ${level.padEnd(10)}  ${requirement}${reasons.has(id) ? `\n    ${reasons.get(id)}` : ''}`)
}
