/** What every command does first: install what is missing, build what is stale. Says so, because it takes a while. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

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

export function installDependencies() {
  const installed = `${root}/node_modules/.package-lock.json`
  const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}/package-lock.json`).mtimeMs
  if (isFresh) return
  say('installing dependencies ...')
  // Not `npm ci`: it refuses a lock file without the optional binaries of other platforms, which some registries do not carry.
  // With `--no-save`, `npm install` takes the locked versions all the same and leaves the lock file alone.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  run('npm', args, { stdio: ['ignore', process.stderr, 'inherit'] })
}

export async function buildIfStale() {
  const stamp = `${root}/.cache/build`
  const now = digestOfSources()
  if (existsSync(`${root}/dist/index.js`) && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return
  say('building ...')
  const { build } = await import('./build.mjs')
  await build()
  mkdirSync(`${root}/.cache`, { recursive: true })
  writeFileSync(stamp, now)
}

export async function setUp() {
  installDependencies()
  await buildIfStale()
}

function digestOfSources() {
  const hash = createHash('sha256')
  const files = readdirSync(`${root}/src`, { recursive: true }).filter((name) => name.endsWith('.ts'))
  for (const name of [...files.sort().map((file) => `src/${file}`), 'scripts/build.mjs', 'tsconfig.json', 'package-lock.json']) {
    hash.update(name).update(readFileSync(`${root}/${name}`))
  }
  return hash.digest('hex')
}
