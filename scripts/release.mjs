/** npm run release: writes a version into all files that carry it, dates the changelog, commits and tags. The workflow release.yml then publishes. */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { root, run, say } from './setup.mjs'

const HELP = `Usage: npm run release -- patch|minor|major|x.y.z [--dry-run] [--skip-tests]

Runs all checks and tests, writes the version, dates the section of CHANGELOG.md, commits and tags.
  --dry-run      show what would change and what is missing; change nothing, run no tests
  --skip-tests   do not run \`npm test\`, because CI has tested this commit`

/** The files that carry the version, each with the places in it. */
export const CARRIERS = [
  ['package.json', /(^ {2}"version": ")[^"]+/m],
  ['package-lock.json', /(^ {2}"version": ")[^"]+/m],
  ['package-lock.json', /(^ {4}"": \{\n {6}"name": "portico",\n {6}"version": ")[^"]+/m],
  ['create-portico/package.json', /(^ {2}"version": ")[^"]+/m],
  ['src/base/version.ts', /(VERSION = ')[^']+/],
  ['README.md', /(portico-)\d[^\s/]*(?=\.tgz)/],
]

/** The version after `current`. An exact version may be `current` itself, which is the first release. */
export function nextVersion(current, wanted) {
  const numbers = (version) => /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(version)?.slice(1).map(Number)
  const [major, minor, patch] = numbers(current) ?? [0, 0, 0]
  if (wanted === 'major') return `${major + 1}.0.0`
  if (wanted === 'minor') return `${major}.${minor + 1}.0`
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`
  const exact = numbers(wanted)
  if (exact === undefined) throw new Error(`Expected patch, minor, major or a version such as 1.2.3, got ${JSON.stringify(wanted)}`)
  const isOlder = (exact[0] - major || exact[1] - minor || exact[2] - patch) < 0
  if (isOlder) throw new Error(`Expected a version that is not older than ${current}, got ${wanted}`)
  return wanted
}

/** Dates the first section. Throws if it is not marked as unreleased, or is empty. */
export function datedChangelog(text, version, date) {
  const [heading, body = ''] = text.split(/^(?=## )/m)[1]?.split(/\n(.*)/s) ?? []
  if (!/^## \S+ \(unreleased\)$/.test(heading ?? '')) throw new Error('The first section of CHANGELOG.md must be "## VERSION (unreleased)"')
  if (body.trim() === '') throw new Error('The section of this release in CHANGELOG.md is empty')
  return text.replace(heading, `## ${version} (${date})`)
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`)
  return stdout.trim()
}

const read = (file) => readFileSync(`${root}${file}`, 'utf8')
const versionOf = () => JSON.parse(read('package.json')).version

/** The new text of each file. */
function changesFor(version, date) {
  const changes = new Map([['CHANGELOG.md', datedChangelog(read('CHANGELOG.md'), version, date)]])
  for (const [file, place] of CARRIERS) {
    const text = changes.get(file) ?? read(file)
    if (!place.test(text)) throw new Error(`${file} does not carry the version where it is expected (${place})`)
    changes.set(file, text.replace(place, `$1${version}`))
  }
  return changes
}

/** What is missing for a release, in words. */
function problemsOf(version) {
  const problems = []
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  if (branch !== 'main') problems.push(`A release is made on main; this is ${branch}`)
  const changed = git('status', '--porcelain')
  if (changed !== '') problems.push(`The tree is not clean:\n${changed}`)
  if (git('tag', '--list', `v${version}`) !== '') problems.push(`The tag v${version} exists already`)
  for (const file of ['package.json', 'create-portico/package.json']) {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/check-release.mjs', file], { cwd: root, encoding: 'utf8' })
    if (status !== 0) problems.push(`${file} is not ready:\n${stderr.trim()}`)
  }
  return problems
}

function showChanges(changes) {
  for (const [file, text] of changes) {
    const before = read(file).split('\n')
    for (const [i, line] of text.split('\n').entries()) if (line !== before[i]) console.log(`${file}:${i + 1}\n- ${before[i]}\n+ ${line}`)
  }
}

function release(wanted, { 'dry-run': isDry, 'skip-tests': skipsTests }) {
  const version = nextVersion(versionOf(), wanted)
  const changes = changesFor(version, new Date().toISOString().slice(0, 10))
  const problems = problemsOf(version)
  for (const problem of problems) say(problem)
  if (isDry) {
    showChanges(changes)
    console.log(`Would commit "release: ${version}" and tag v${version}.`)
  }
  if (problems.length > 0) {
    say(`the release is refused: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`)
    process.exit(1)
  }
  if (isDry) return
  // `npm test` runs all checks first.
  if (!skipsTests) run(process.execPath, ['scripts/test.mjs'])
  for (const [file, text] of changes) writeFileSync(`${root}${file}`, text)
  git('commit', '--quiet', '-m', `release: ${version}`, '--', ...changes.keys())
  git('tag', '-a', `v${version}`, '-m', `Portico ${version}`)
  console.log(`Made the commit and the tag v${version}. To publish: git push origin main v${version}`)
}

/** For the workflow: the tag that started it must be the version of the files. */
function checkTag(tag) {
  for (const [file, place] of CARRIERS) {
    const found = place.exec(read(file))?.[0] ?? ''
    if (tag === `v${versionOf()}` && found.endsWith(versionOf())) continue
    throw new Error(`The tag ${tag} is not the version in ${file} (${found.trim()})`)
  }
}

function main() {
  const options = {
    'dry-run': { type: 'boolean' },
    'skip-tests': { type: 'boolean' },
    'check-tag': { type: 'string' },
    help: { type: 'boolean' },
  }
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (values.help) return console.log(HELP)
  if (values['check-tag'] !== undefined) return checkTag(values['check-tag'])
  if (positionals.length !== 1) throw new Error(`Expected one version\n\n${HELP}`)
  release(positionals[0], values)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main()
  } catch (error) {
    say(error.message)
    process.exit(2)
  }
}
