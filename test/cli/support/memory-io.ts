/** The surroundings of a command, in memory. */

import { PassThrough, Writable } from 'node:stream'
import type { Io } from '../../../src/cli/io.ts'
import { type Output, SharedTerminal } from '../../../src/cli/shared-terminal.ts'

export interface MemoryIo extends Io {
  out(): string
  err(): string
  interrupt(): void
}

export interface MemoryIoOptions {
  env?: Record<string, string>
  cwd?: string
  isTTY?: boolean
  columns?: number
  input?: string
}

export function memoryIo({ env = {}, cwd = '/', isTTY = false, columns = 80, input }: MemoryIoOptions = {}): MemoryIo {
  const written = { out: '', err: '' }
  const outputTo = (which: 'out' | 'err'): Output => ({
    stream: new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written[which] += chunk.toString()
        done()
      },
    }),
    isTTY,
    columns: () => (isTTY ? columns : undefined),
  })
  const listeners = new Set<Parameters<Io['onInterrupt']>[0]>()
  const stdin = new PassThrough()
  stdin.end(input ?? '')
  return {
    stdin,
    stdout: outputTo('out'),
    stderr: outputTo('err'),
    terminal: new SharedTerminal(),
    env,
    cwd,
    home: cwd,
    onInterrupt: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    outliveReader: () => {},
    out: () => written.out,
    err: () => written.err,
    interrupt: () => {
      for (const listener of listeners) listener('SIGINT')
    },
  }
}
