/** A server process as something to connect to. */

import { redactText } from '../base/text/redact.ts'
import type { Target } from '../protocol/seams/link.ts'
import type { ProcessOptions } from './child.ts'

export interface ProcessTargetOptions extends ProcessOptions {
  /**
   * Start it again when it ends by itself, at most 5 times a minute. Default: only where the revision spoken has no
   * sessions, because there a new process is as good as the old one.
   */
  restarts?: boolean
  /** The longest message it may send; a longer one ends the connection. */
  maxLineBytes?: number
  /** Values one message may hold; an answer with more fails. Default: 100,000. */
  maxValues?: number
  /** Lines in a row that are no messages; then the connection ends. Default: 1,000. */
  maxGarbageLines?: number
  /** What may wait for a server that does not read; past it the connection ends. */
  maxPendingBytes?: number
  /** Something odd came and was left out. */
  onWarning?(message: string): void
}

export function processTarget(options: ProcessTargetOptions): Target {
  const { command, args = [] } = options
  const label = redactText([command, ...args].join(' '))
  return {
    key: `process:${JSON.stringify([command, ...args, options.cwd ?? ''])}`,
    label,
    restarts: options.restarts ?? 'stateless',
    open: async () => {
      // Loaded now: a program that only serves has this file too, and starts no process.
      const { openProcess } = await import('./process-link.ts')
      return openProcess(options, label)
    },
  }
}
