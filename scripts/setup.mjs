/** What every npm command does first: install what is missing, build what is stale. Both take a while, so it says what it does. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Reads the options of a command. A wrong one ends the process with one line, and `--help` with the help. */
export function readOptions(options, help) {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', default: false } } })
    if (!values.help) return values
    console.log(help)
    process.exit(0)
  } catch (error) {
    say(`${error.message.split('. ')[0]}\n\n${help}`)
    process.exit(2)
  }
}

/** The whole number that an option is, of at least 1. */
export function countOf(name, text) {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1) return count
  say(`--${name} takes a whole number of at least 1, not "${text}"`)
  process.exit(2)
}

export function say(text) {
  process.stderr.write(`portico: ${text}\n`)
}

/** Where a run of all tests leaves its results, for `npm run trace`. */
export const testResults = `${root}.cache/test-results.json`

/** Runs every test and keeps the results; a run of some tests keeps nothing. */
export function runAllTests(options = {}) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${testResults}`]
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...reporters], options)
}

/** Runs a command to its end and ends this process if it fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (status === 0) return
  say(error ? `${command} could not be started: ${error.message}` : `${[command, ...args].join(' ')} failed`)
  process.exit(status ?? 1)
}

/**
 * Installs what is missing. Running the product takes a small part of what tests, benchmarks and checks take
 * (`test/package.json`, a private workspace), and gets only that part.
 */
export function installDependencies({ isForTests = true } = {}) {
  const installed = `${root}/node_modules/.package-lock.json`
  const hasTests = existsSync(`${root}/node_modules/vitest/package.json`)
  const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}/package-lock.json`).mtimeMs
  if (isFresh && (hasTests || !isForTests)) return
  say(isForTests ? 'installing what the tests need ...' : 'installing dependencies ...')
  // Not `npm ci`: it refuses a lock file without the optional binaries of other platforms, which some registries do not carry.
  // With `--no-save`, `npm install` takes the locked versions all the same and leaves the lock file alone.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  // Without the workspaces npm would remove what the tests have installed.
  if (!isForTests && !hasTests) args.push('--workspaces=false')
  run('npm', args, { stdio: ['ignore', process.stderr, 'inherit'] })
}

/** Builds what is stale. Only those who compile against the package need its types. */
export async function buildIfStale({ types = true } = {}) {
  const stamp = `${root}/.cache/build`
  mkdirSync(`${root}/.cache`, { recursive: true })
  const isFresh = () => {
    const made = existsSync(`${root}/dist/index.js`) && existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
    const now = digestOfSources()
    return made === `${now} with types` || (!types && made === now)
  }
  if (isFresh()) return
  await alone(`${root}/.cache/building`, async () => {
    if (isFresh()) return
    say('building ...')
    const { build } = await import('./build.mjs')
    const now = digestOfSources()
    await build({ types })
    writeFileSync(stamp, types ? `${now} with types` : now)
  })
}

/** Two commands at the same time must not build into the same folder. A lock that is older than any build was left behind. */
async function alone(lock, run) {
  for (;;) {
    try {
      mkdirSync(lock)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const age = existsSync(lock) ? Date.now() - statSync(lock, { throwIfNoEntry: false })?.mtimeMs : 0
      if (age > 180_000) rmSync(lock, { recursive: true, force: true })
      else await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  try {
    await run()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Installs and builds for tests and checks, or with `isForTests: false` only what running the product takes. */
export async function setUp({ isForTests = true } = {}) {
  installDependencies({ isForTests })
  await buildIfStale({ types: isForTests })
}

function digestOfSources() {
  const hash = createHash('sha256')
  const files = readdirSync(`${root}/src`, { recursive: true }).filter((name) => name.endsWith('.ts'))
  for (const name of [...files.sort().map((file) => `src/${file}`), 'scripts/build.mjs', 'tsconfig.json', 'package-lock.json']) {
    hash.update(name).update(readFileSync(`${root}/${name}`))
  }
  return hash.digest('hex')
}
