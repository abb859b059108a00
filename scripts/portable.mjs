/** npm run test:portable: the tests that run on Linux, macOS and Windows, with packages of npm only and without root. */

import { fileURLToPath } from 'node:url'
import { run, say, setUp } from './setup.mjs'

/**
 * Folders and files of test/. The others start programs of Debian or browsers, need POSIX signals, modes of files or terminals, or take
 * long. test/project/portable.test.ts checks what these import.
 */
export const PORTABLE = [
  'test/adapters/',
  'test/apps/',
  'test/base/',
  'test/client/',
  'test/compose/',
  'test/extensions/',
  'test/jsonrpc/',
  'test/observability/',
  'test/openapi/',
  'test/opentelemetry/',
  'test/protocol/',
  'test/revisions/',
  'test/server/',
  'test/stdio/script-command.test.ts',
  'test/stdio/windows-command.test.ts',
  'test/store/',
  'test/testing/',
  'test/wire.test.ts',
]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setUp()
  say(`running the tests of ${PORTABLE.length} folders and files ...`)
  // The variable spares what only the other tests need (vitest.config.ts).
  const env = { ...process.env, PORTICO_PORTABLE: '1' }
  run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...PORTABLE, ...process.argv.slice(2)], { env })
}
