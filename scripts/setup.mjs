/** The first step of every npm command: installs missing packages and builds stale output. Both are slow, so it prints what it does. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Reads the options of a command. `--help` prints the help and exits; a wrong option prints one line and the help, and exits. */
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

/** Reads an option as a whole number, at least 1. */
export function countOf(name, text) {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1) return count
  say(`--${name} must be a whole number, at least 1; got "${text}"`)
  process.exit(2)
}

export function say(text) {
  process.stderr.write(`portico: ${text}\n`)
}

/** The file with the results of the last run of all tests, for `npm run trace`. */
export const testResults = `${root}.cache/test-results.json`

/** Runs all tests and writes the results. A run of some tests writes none. */
export function runAllTests(options = {}) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${testResults}`]
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...reporters], options)
}

/** Runs a command and waits for it. Exits if the command fails. */
export function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (status === 0) return
  say(error ? `${command} could not be started: ${error.message}` : `${[command, ...args].join(' ')} failed`)
  process.exit(status ?? 1)
}

/** Runs npm. On Windows `npm` is a script that Node cannot start, so the npm that runs this command is started with Node. */
function runNpm(args, options) {
  const npm = process.env.npm_execpath
  if (process.platform === 'win32' && npm?.endsWith('.js')) run(process.execPath, [npm, ...args], options)
  else run('npm', args, options)
}

/**
 * Installs missing packages. Running the product needs those of the package and of its page (`console/package.json`); tests, checks and
 * benchmarks need those of the other private workspaces (`test`, `bench`, `site`) as well.
 */
export function installDependencies({ isForTests = true } = {}) {
  const installed = `${root}/node_modules/.package-lock.json`
  const has = (name) => existsSync(`${root}/node_modules/${name}/package.json`)
  const hasTests = has('vitest') && has('vitepress')
  const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${root}/package-lock.json`).mtimeMs
  if (isFresh && has('vite') && (hasTests || !isForTests)) return
  say(isForTests ? 'installing dependencies, including those of the tests ...' : 'installing dependencies ...')
  // Not `npm ci`: it refuses a lock file without the optional binaries of other platforms, and some registries do not have them.
  // `npm install --no-save` also installs the locked versions and does not change the lock file.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  // Only if the test dependencies are missing: this option would remove them.
  if (!isForTests && !hasTests) args.push('--workspace=console', '--include-workspace-root')
  runNpm(args, { stdio: ['ignore', process.stderr, 'inherit'] })
  if (!isForTests && !hasTests) removeUnusedPeers()
}

/**
 * Optional peers of the packages of the page that are in the lock file for the tests. npm installs every optional peer that is in the lock
 * file. The build needs none of these, and they are a quarter of everything. The next installation for tests installs them again.
 */
const UNUSED_PEERS = [
  '@esbuild',
  '@opentelemetry',
  '@types',
  '@typescript',
  'csstype',
  'esbuild',
  'jiti',
  'tsx',
  'typescript',
  'undici-types',
]

function removeUnusedPeers() {
  for (const name of UNUSED_PEERS) rmSync(`${root}/node_modules/${name}`, { recursive: true, force: true })
}

/**
 * Names in node_modules that npm does not make, each with the folder it leads to.
 *
 * `portico`: Node finds a package by its own name only from inside, and test/ and bench/ are packages themselves.
 * The others are optional peers. The tests install them under different names, because `npm start` would install every optional peer
 * that is in the lock file.
 */
const LINKS = {
  portico: '..',
  ai: 'ai-sdk-v6',
  ioredis: 'ioredis-v6',
  '@ai-sdk/anthropic': '../ai-sdk-v3-anthropic',
  '@ai-sdk/openai-compatible': '../ai-sdk-v3-openai-compatible',
  '@langchain/core': '../langchain-core-v1',
  '@openai/agents': '../openai-agents-v0',
}

/** Lets programs in test/ and bench/ import the package, and the adapters import the packages that they adapt to. */
export function linkPackages(project = root) {
  for (const [name, target] of Object.entries(LINKS)) {
    const link = `${project}/node_modules/${name}`
    if (existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    try {
      symlinkSync(target, link, 'junction')
    } catch (error) {
      // Another command made the link at the same time.
      if (error.code !== 'EEXIST') throw error
    }
  }
}

/** Builds if the output is stale, or in any case if `always`. Only programs that compile against the package need `types`. */
export async function buildIfStale({ types = true, always = false } = {}) {
  const stamp = `${root}/.cache/build`
  mkdirSync(`${root}/.cache`, { recursive: true })
  const isFresh = () => {
    if (always) return false
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

/** Runs under a lock, so that two commands do not build or install at the same time. A lock that is older than 3 minutes counts as abandoned. */
export async function alone(lock, run) {
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

/** Installs and builds. `isForTests: false` installs and builds only what running the product needs. Default: true. */
export async function setUp({ isForTests = true } = {}) {
  installDependencies({ isForTests })
  if (isForTests) linkPackages()
  await buildIfStale({ types: isForTests })
}

function digestOfSources() {
  const hash = createHash('sha256')
  const filesIn = (folder, pattern) =>
    readdirSync(`${root}/${folder}`, { recursive: true })
      .filter((name) => pattern.test(name))
      .sort()
      .map((name) => `${folder}/${name}`)
  const sources = [...filesIn('src', /\.ts$/), ...filesIn('console/src', /\.(tsx?|css)$/), ...filesIn('console/public', /\.\w+$/)]
  const settings = ['console/index.html', 'console/vite.config.ts', 'scripts/build.mjs', 'tsconfig.json', 'package-lock.json']
  for (const name of [...sources, ...settings]) {
    hash.update(name).update(readFileSync(`${root}/${name}`))
  }
  return hash.digest('hex')
}
