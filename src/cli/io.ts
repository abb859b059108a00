/** Everything the command touches of its process, as one value: a test gives its own. */

import type { Readable } from 'node:stream'
import { exitCode } from './exit-codes.ts'
import { type Output, SharedTerminal } from './shared-terminal.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export interface Io {
  /** Not read before it is needed. */
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** What is written to either goes through it, so that a question has the terminal for itself. */
  readonly terminal: SharedTerminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** Called when the person wants to stop (Ctrl-C), or somebody asks the process to end; returns what ends that. */
  onInterrupt(listener: (signal: InterruptSignal) => Interrupt): () => void
}

export type InterruptSignal = (typeof SIGNALS)[number]

/** Whether only something of what the process does was stopped, or all of it: then a second signal does not wait for the end. */
export type Interrupt = 'goes-on' | 'ends'

/** True when there is a person to ask: a keyboard, and a screen to see the question on. */
export const isInteractive = ({ stdin, stderr }: Io): boolean => stdin.isTTY === true && stderr.isTTY

export function processIo(): Io {
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
  }
}

const outputOf = (stream: NodeJS.WriteStream): Output => ({
  stream,
  isTTY: stream.isTTY === true,
  columns: () => stream.columns,
})
