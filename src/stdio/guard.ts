/** Keeps standard output for messages: what anything else writes there goes to standard error. */

import type { Writable } from 'node:stream'

/** Returns the one way left to standard output. */
export function guardStdout(): Writable['write'] {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // A client may close its end: log messages are then lost, and nothing else.
  stderr.on('error', () => {})
  return write as Writable['write']
}
