import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/order.ts'

/** Folders with many short files. A process for each file would take longer than its tests, so they share processes. */
const TOGETHER =
  /^test\/(?:apps|base|client|console-page|extensions|files|host|jsonrpc|observability|protocol|revisions|server|skills|testing)\//

/** A file that replaces modules, changes the process, measures its memory, starts a browser or takes long gets a process of its own. */
const NEEDS_ITS_OWN =
  /vi\.(?:do)?[mM]ock\(|defineProperty\(process|process\.(?:env\.\w+ = |chdir|memoryUsage|cpuUsage)|support\/(?:chromium|memory|proof)\.ts|made-tests/

const root = fileURLToPath(new URL('.', import.meta.url))

const together = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file.replaceAll('\\', '/')}`)
  .filter((file) => file.endsWith('.test.ts') && TOGETHER.test(file) && !NEEDS_ITS_OWN.test(readFileSync(`${root}${file}`, 'utf8')))

/** What all test files have in common. `npm run mutants` uses it, too. */
export const usual = {
  setupFiles: ['test/support/property-settings.ts'],
  pool: 'forks',
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // A busy machine is slow: what is polled for may come late.
  expect: { poll: { timeout: 10_000 } },
} as const

/** Long files that wait for other processes, and for nothing within a short time: a third worker uses the two cores meanwhile. */
const WAITING = ['cli', 'console-e2e', 'interop', 'conformance', 'runtimes'].map((folder) => `test/${folder}/**/*.test.ts`)
const isLimited = process.argv.some((argument) => argument.startsWith('--maxWorkers'))
const waiting = { include: WAITING, ...(!isLimited && { maxWorkers: 3 }), sequence: { groupOrder: 0 } }

const others = { include: ['test/**/*.test.ts'], exclude: [...WAITING, ...together], sequence: { groupOrder: 1 } }

export default defineConfig({
  test: {
    // The portable tests (scripts/portable.mjs) do not need the Node of the conformance suite.
    globalSetup: ['test/support/build.ts', ...(process.env.PORTICO_PORTABLE ? [] : ['test/conformance/set-up.ts'])],
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    projects: [
      { test: { ...usual, ...waiting, name: 'waiting' } },
      { test: { ...usual, ...others, name: 'alone' } },
      { test: { ...usual, name: 'together', include: together, isolate: false, sequence: { groupOrder: 1 } } },
    ],
  },
})
