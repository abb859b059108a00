/** Keeps standard output for messages: what anything else writes there goes to standard error. */

import type { Writable } from 'node:stream'

export interface StdoutGuard {
  /** The one way left to standard output. */
  write: Writable['write']
  release(): void
}

export function guardStdout(): StdoutGuard {
  const { stdout, stderr } = process
  const write = stdout.write
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  return {
    write: write.bind(stdout) as Writable['write'],
    release: () => {
      stdout.write = write
    },
  }
}
