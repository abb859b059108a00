/**
 * npm run mutants -- --sample N --seed S: puts N faults into the sources, one at a time, and counts how many the tests detect.
 *
 * One copy of the project contains all faults of the sample, each behind a switch. A first run of the tests records which test files
 * reach which fault. Then each fault is switched on alone, and those files run. A fault counts as noticed if a test that passes without
 * the fault fails or does not end with it.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findFaults } from './mutants/find.mjs'
import { readVisits, setupSource, switchSource } from './mutants/switch.mjs'
import { countOf, linkPackages, readOptions, root as rootWithSlash, say, setUp } from './setup.mjs'

const root = rootWithSlash.replace(/\/$/, '')
const values = readOptions(
  {
    sample: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    folders: { type: 'string', default: 'stdio,http,auth,client' },
    tests: { type: 'string' },
    only: { type: 'string', default: '' },
    everywhere: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
  `npm run mutants -- [--sample N] [--seed S] [--folders stdio,http,auth,client] [--tests LIST] [--only ID,ID] [--everywhere] [--list]

  --sample N      number of faults. Default: 60
  --seed S        choice of the faults. The same seed and sources give the same faults. Default: 1
  --folders LIST  folders of src/ that get faults. Default: stdio,http,auth,client
  --tests LIST    test files and folders to run. Default: those of the folders, and server, jsonrpc, protocol and interop
  --only LIST     try only these ids of the sample (a run prints the ids of faults that no test noticed)
  --everywhere    put faults into all code. Default: only code about endings and limits (such as closing, idling, clean-up)
  --list          print the sample and stop`,
)
const count = countOf('sample', values.sample)

/**
 * Runs one test file at a time, so that the record shows which file reaches a fault. The fastest file runs first, because several
 * files notice most faults, and one is enough.
 */
const VITEST_CONFIG = `import { existsSync, readFileSync } from 'node:fs'
import { BaseSequencer } from 'vitest/node'
import config, { usual } from './vitest.config.ts'
const file = new URL('../durations.json', import.meta.url)
const durations = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
class ShortestFirst extends BaseSequencer {
  sort(files) {
    const msOf = ({ moduleId }) => durations[moduleId] ?? 0
    return Promise.resolve([...files].sort((a, b) => msOf(a) - msOf(b)))
  }
}
export default {
  test: {
    ...usual,
    include: ['test/**/*.test.ts'],
    globalSetup: config.test.globalSetup,
    setupFiles: ['./fault-setup.ts'],
    maxWorkers: 1,
    sequence: { sequencer: ShortestFirst },
  },
}
`

await setUp()
const folder = `${root}/.cache/mutants`
const tree = `${folder}/tree`
const folders = values.folders.split(',')
for (const name of folders) {
  if (existsSync(`${root}/src/${name}`)) continue
  say(`--folders takes folders of src/; src/${name} does not exist`)
  process.exit(2)
}
const sample = drawSample()
if (values.list) {
  for (const fault of sample) console.log(describe(fault))
  process.exit(0)
}
const accepted = readAccepted()
writeTree()
say(`${sample.length} faults, seed ${values.seed}; recording which tests reach them ...`)
/** The time that each test file takes without a fault. */
let usualMs = {}
const passing = record()
const visits = readVisits(folder)
const outcomes = []
for (const [i, fault] of sample.entries()) {
  const outcome = tryFault(fault)
  outcomes.push({ fault, ...outcome })
  say(`${i + 1}/${sample.length} ${outcome.word.padEnd(9)} ${describe(fault)}${outcome.by ? ` (${outcome.by})` : ''}`)
}
printLedger()

function drawSample() {
  const files = folders.flatMap((name) =>
    readdirSync(`${root}/src/${name}`, { recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `src/${name}/${file}`),
  )
  const faults = files
    .sort()
    .flatMap((file) => findFaults(file, readFileSync(`${root}/${file}`, 'utf8'), { everywhere: values.everywhere }))
  // The same text can occur several times in a file. Each place is a separate fault.
  const counts = new Map()
  for (const fault of faults) {
    const text = textOf(fault)
    const count = counts.get(text) ?? 0
    counts.set(text, count + 1)
    fault.id = digest(count === 0 ? text : `${text}\n${count}`).slice(0, 8)
    fault.place = digest(`${values.seed}\n${fault.id}`)
  }
  // Sorted by digest, not shuffled, so that a change of the sources changes the sample only at that place.
  faults.sort((a, b) => (a.place < b.place ? -1 : 1))
  // Takes one fault of each folder in turn, so that small folders get their share.
  const queues = folders.map((name) => faults.filter(({ file }) => file.startsWith(`src/${name}/`)))
  const drawn = []
  while (drawn.length < count && queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) {
      // Two faults in the same text cannot be in the same copy.
      const isFree = (fault) =>
        drawn.every(({ id, file, start, end }) => id !== fault.id && (file !== fault.file || end <= fault.start || fault.end <= start))
      while (queue.length > 0 && !isFree(queue[0])) queue.shift()
      const fault = queue.shift()
      if (fault && drawn.length < count) drawn.push(fault)
    }
  }
  say(`${faults.length} places for a fault in ${files.length} files`)
  const wanted = new Set(values.only.split(',').filter(Boolean))
  return wanted.size === 0 ? drawn : drawn.filter(({ id }) => wanted.has(id))
}

/** The id of a fault does not depend on line numbers, so it stays the same when lines above change. */
function textOf({ file, kind, was, becomes }) {
  return `${file}\n${kind}\n${was}\n${becomes}`
}

function digest(text) {
  return createHash('sha256').update(text).digest('hex')
}

/** Faults that do not change the behaviour, with the reason. */
function readAccepted() {
  const file = `${root}/scripts/mutants/invisible.tsv`
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1)
  return new Map(lines.map((line) => [line.split('\t')[0], line.split('\t')[2]]))
}

function writeTree() {
  rmSync(folder, { recursive: true, force: true })
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  for (const file of files) {
    if (!existsSync(`${root}/${file}`)) continue
    mkdirSync(dirname(`${tree}/${file}`), { recursive: true })
    cpSync(`${root}/${file}`, `${tree}/${file}`)
  }
  // One link for each package: in the copy, the name "portico" must lead to the copy.
  mkdirSync(`${tree}/node_modules`)
  for (const name of readdirSync(`${root}/node_modules`)) {
    if (name !== 'portico') symlinkSync(`${root}/node_modules/${name}`, `${tree}/node_modules/${name}`)
  }
  linkPackages(tree)
  mkdirSync(`${tree}/.cache`, { recursive: true })
  if (existsSync(`${root}/.cache/node24`)) symlinkSync(`${root}/.cache/node24`, `${tree}/.cache/node24`)
  for (const file of new Set(sample.map((fault) => fault.file))) {
    let source = readFileSync(`${tree}/${file}`, 'utf8')
    const inFile = sample.filter((fault) => fault.file === file).sort((a, b) => b.start - a.start)
    for (const { id, start, end, code } of inFile) source = `${source.slice(0, start)}${code(`__fault('${id}')`)}${source.slice(end)}`
    const up = '../'.repeat(file.split('/').length - 2)
    writeFileSync(`${tree}/${file}`, `import { fault as __fault } from './${up}fault-switch.ts'\n${source}`)
  }
  writeFileSync(`${tree}/src/fault-switch.ts`, `// @ts-nocheck\n${switchSource(folder)}`)
  writeFileSync(`${tree}/fault-setup.ts`, setupSource(folder))
  writeFileSync(`${tree}/vitest.faults.config.ts`, VITEST_CONFIG)
}

/** Runs test files in the copy. Returns which files passed, which failed, and the time. */
function runTests(files, active, { timeout, args = [] }) {
  writeFileSync(`${folder}/active`, active)
  const results = `${folder}/results.json`
  rmSync(results, { force: true })
  const vitest = [`${root}/node_modules/vitest/vitest.mjs`, 'run', '--root', tree, '--config', `${tree}/vitest.faults.config.ts`]
  const began = Date.now()
  const { error, stderr } = spawnSync(process.execPath, [...vitest, '--reporter=json', `--outputFile=${results}`, ...args, ...files], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout,
    killSignal: 'SIGKILL',
  })
  const ms = Date.now() - began
  if (error || !existsSync(results)) return { isHung: true, failed: [], passed: [], ms, stderr }
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'))
  const names = (status) => testResults.filter((result) => result.status === status).map(({ name }) => name)
  const durations = Object.fromEntries(testResults.map(({ name, startTime, endTime }) => [name, endTime - startTime]))
  return { isHung: false, failed: names('failed'), passed: names('passed'), ms, durations }
}

function record() {
  writeFileSync(`${folder}/visits`, '')
  const usual = [...folders, 'server', 'jsonrpc', 'protocol', 'interop'].map((name) => `test/${name}/`)
  const { passed, failed, ms, stderr, durations } = runTests(values.tests?.split(',') ?? [...usual, 'test/wire.test.ts'], 'record', {
    timeout: 1_800_000,
  })
  writeFileSync(`${folder}/durations.json`, JSON.stringify(durations ?? {}))
  usualMs = durations ?? {}
  say(
    `${passed.length} test files passed in ${Math.round(ms / 1000)} s${failed.length > 0 ? `; excluded, because they fail without a fault: ${failed.join(', ')}` : ''}`,
  )
  if (passed.length === 0) {
    say('no test file passes in the copy with all faults switched off, so there is nothing to measure')
    process.stderr.write(stderr ?? '')
    process.exit(1)
  }
  return new Set(passed)
}

function tryFault({ id }) {
  if (accepted.has(id)) return { word: 'invisible' }
  const files = [...(visits.get(id) ?? [])].filter((file) => passing.has(file))
  if (files.length === 0) return { word: 'unreached' }
  const timeout = Math.ceil(90_000 + 3 * files.reduce((sum, file) => sum + usualMs[file], 0))
  const { isHung, failed } = runTests(files, id, { timeout, args: ['--bail=1'] })
  if (isHung) {
    // On a busy machine the tests may also time out without the fault.
    const { isHung: isSlow } = runTests(files, 'none', { timeout })
    return isSlow ? { word: 'survived', by: 'the tests time out without the fault, too' } : { word: 'noticed', by: 'the tests did not end' }
  }
  if (failed.length === 0) return { word: 'survived' }
  // A flaky test proves nothing, and must not hide that another test notices the fault.
  const again = runTests(failed, 'none', { timeout: 300_000 })
  if (again.failed.length > 0 || again.isHung) {
    say(`excluded from now on, because it also fails without a fault: ${failed.join(', ').replaceAll(`${tree}/`, '')}`)
    for (const file of failed) passing.delete(file)
    return files.length === failed.length ? { word: 'survived', by: 'its only test fails without the fault, too' } : tryFault({ id })
  }
  return { word: 'noticed', by: failed[0].replace(`${tree}/`, '') }
}

function describe({ id, file, line, kind, was, becomes }) {
  return `${id} ${file}:${line} ${kind}: ${was}${becomes === '' ? '' : ` -> ${becomes.replace(/\s+/g, ' ').slice(0, 100)}`}`
}

function printLedger() {
  const row = (name, of) => {
    const n = (word) => of.filter((outcome) => outcome.word === word).length
    const visible = of.length - n('invisible')
    const share = visible === 0 ? '-' : `${Math.round((100 * n('noticed')) / visible)} %`
    return [name, n('noticed'), n('survived'), n('unreached'), n('invisible'), share].map(String)
  }
  const table = [
    ['folder', 'noticed', 'survived', 'unreached', 'invisible', 'share noticed'],
    ...folders.map((name) =>
      row(
        name,
        outcomes.filter(({ fault }) => fault.file.startsWith(`src/${name}/`)),
      ),
    ),
    row('all', outcomes),
  ]
  const widths = table[0].map((_, i) => Math.max(...table.map((cells) => cells[i].length)))
  console.log(`Faults in the sources, one at a time (sample ${values.sample}, seed ${values.seed})`)
  for (const cells of table) console.log(cells.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  '))
  console.log(
    'unreached: no test runs this code. invisible: does not change the behaviour (scripts/mutants/invisible.tsv); not counted in the share',
  )
  const missed = outcomes.filter(({ word }) => word === 'survived' || word === 'unreached')
  if (missed.length > 0) console.log('\nNot noticed:')
  for (const { fault, word, by } of missed) console.log(`${word.padEnd(9)}  ${describe(fault)}${by ? ` (${by})` : ''}`)
}
