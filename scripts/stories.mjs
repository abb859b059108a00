/** npm run stories: prints how many questions and lines ordinary stories cost a person, and whether attacks are stopped. */

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { root, say, setUp } from './setup.mjs'

await setUp()
say('telling the stories ...')
const results = `${root}.cache/story-results.json`
rmSync(results, { force: true })
const vitest = ['node_modules/vitest/vitest.mjs', 'run', 'test/stories', '--reporter=json', `--outputFile.json=${results}`]
const { status } = spawnSync(process.execPath, vitest, { cwd: root, stdio: ['ignore', process.stderr, 'inherit'] })
const told = JSON.parse(readFileSync(results, 'utf8')).testResults.flatMap(({ assertionResults }) => assertionResults)

console.log('Questions and lines (at 80 columns) that each story costs, and the most it may cost\n')
console.log('questions   lines      story')
for (const { title, status, meta } of told.filter(({ meta }) => meta?.story)) {
  const { questions, lines, maxQuestions, maxLines, kinds } = meta.story
  const cost = `${`${questions} of ${maxQuestions}`.padEnd(11)} ${`${lines} of ${maxLines}`.padEnd(10)}`
  console.log(`${cost} ${title}${kinds === '-' ? '' : ` (${kinds})`}${status === 'passed' ? '' : '   FAILED'}`)
}
const attacks = told.filter(({ meta }) => !meta?.story)
if (attacks.length > 0) console.log('\nAttacks in the same stories')
for (const { title, status } of attacks) console.log(`${status === 'passed' ? 'stopped' : 'FAILED '}  ${title}`)
process.exitCode = status ?? 1
