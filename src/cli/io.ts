/** The command's view of its process, as one value that tests can replace. */

import type { Readable } from 'node:stream'
import { exitCode } from './exit-codes.ts'
import { type Output, SharedTerminal } from './shared-terminal.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export interface Io {
  /** Not read before it is needed. */
  readonly stdin: Readable & { isTTY?: boolean; isRaw?: boolean; setRawMode?(isRaw: boolean): unknown }
  readonly stdout: Output
  readonly stderr: Output
  /** All output goes through it, so that nothing is written over an open question. */
  readonly terminal: SharedTerminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** The person types at the prompt of the shell, where commands need no `portico` before them. Default: false. */
  readonly isShell?: boolean
  /** Called on Ctrl-C and when the process is asked to end. Returns a function that stops listening. */
  onInterrupt(listener: (signal: InterruptSignal) => Interrupt): () => void
  /** From now on the process goes on also if the reader of its output ends. Otherwise it ends then, as in `portico tools | head`. */
  outliveReader(): void
}

export type InterruptSignal = (typeof SIGNALS)[number]

/** `goes-on`: one step was stopped. `ends`: the process is stopping, and a second signal ends it at once. */
export type Interrupt = 'goes-on' | 'ends'

/** True when a person can be asked: keyboard and screen are both there. */
export const isInteractive = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY

export function processIo(): Io {
  let endsWithReader = true
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader such as `head` may end early. That is not an error.
      if (error.code === 'EPIPE' && endsWithReader) process.exit(exitCode('ok'))
    })
  }
  return {
    stdin: process.stdin,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    terminal: new SharedTerminal(),
    env: process.env,
    cwd: process.cwd(),
    home: process.env.HOME ?? process.env.USERPROFILE ?? process.cwd(),
    onInterrupt: (listener) => {
      let isEnding = false
      const onSignal = (signal: InterruptSignal): void => {
        if (isEnding) process.exit(exitCode('interrupted'))
        isEnding = listener(signal) === 'ends'
      }
      for (const signal of SIGNALS) process.on(signal, onSignal)
      return () => {
        for (const signal of SIGNALS) process.off(signal, onSignal)
      }
    },
    outliveReader: () => {
      endsWithReader = false
    },
  }
}

const outputOf = (stream: NodeJS.WriteStream): Output => ({
  stream,
  isTTY: stream.isTTY === true,
  // Some terminals report 0 columns when they do not know their size.
  columns: () => (stream.columns === 0 ? 80 : stream.columns),
})
