/** The target of a connection to a server process. */

import { redactText } from '../base/text/redact.ts'
import { checkMembers, type Members } from '../protocol/check-members.ts'
import type { Target } from '../protocol/interfaces/link.ts'
import type { ProcessOptions } from './child.ts'

/** Options of {@link processTarget}. */
export interface ProcessTargetOptions extends ProcessOptions {
  /**
   * Restart the process when it exits, at most 5 times a minute. Default: only in stateless revisions, where a new process
   * can replace the old one.
   */
  restarts?: boolean
  /** The longest message of the server. A longer one ends the connection. Default: 10 MiB. */
  maxLineBytes?: number
  /** Values of one message. An answer with more fails. Default: 1,000,000. */
  maxValues?: number
  /** Lines in a row that are not messages before the connection ends. Default: 1,000. */
  maxGarbageLines?: number
  /** Bytes that may wait for a server that does not read. More end the connection. Default: 64 MiB. */
  maxPendingBytes?: number
  /** Receives warnings about unusual events that the client could handle. */
  onWarning?(message: string): void
}

const MEMBERS: Members<ProcessTargetOptions> = {
  command: 1,
  args: 1,
  env: 1,
  cwd: 1,
  onStderr: 1,
  shutdownMs: 1,
  restarts: 1,
  maxLineBytes: 1,
  maxValues: 1,
  maxGarbageLines: 1,
  maxPendingBytes: 1,
  onWarning: 1,
}

/**
 * A server process, for `connect`. The process is started when the connection is opened.
 *
 * @example
 * ```ts
 * const client = await connect(processTarget({ command: 'node', args: ['server.js'] }))
 * ```
 */
export function processTarget(options: ProcessTargetOptions): Target {
  checkMembers('A server process', options, MEMBERS)
  const { command, args = [] } = options
  const label = redactText([command, ...args].join(' '))
  return {
    key: `process:${JSON.stringify([command, ...args, options.cwd ?? ''])}`,
    label,
    restarts: options.restarts ?? 'stateless',
    open: async () => {
      // Loaded on use: a program that only serves starts no process.
      const { openProcess } = await import('./process-link.ts')
      return openProcess(options, label)
    },
  }
}
