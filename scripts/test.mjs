/** npm test: installs, builds, runs all checks and all tests. With arguments it only runs vitest with them. */

import { run, runAllTests, say, setUp } from './setup.mjs'

await setUp()
const args = process.argv.slice(2)
if (args.length === 0) {
  say('checking format, lint, types, dead code and the package ...')
  run(process.execPath, ['scripts/check.mjs'])
}
say('running the tests ...')
if (args.length > 0) run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args])
else {
  runAllTests()
  run(process.execPath, ['scripts/trace.mjs', '--summary'])
  run(process.execPath, ['scripts/runtimes.mjs'])
}
