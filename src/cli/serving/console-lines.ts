/** Writes what the process prints with `console.error`, `console.warn` and as notices as JSON, one object a line. */

import { format } from 'node:util'
import { notices } from '../../base/notices.ts'
import type { Output } from '../shared-terminal.ts'

/** Errors have a stack of many lines, and a collector of logs takes each line for a record of its own. Returns a function that ends it. */
export function consoleLines({ stream }: Output): () => void {
  const { error, warn } = console
  const before = notices.write
  const write =
    (level: 'error' | 'warn' | 'info') =>
    (...args: unknown[]): void =>
      void stream.write(`${JSON.stringify({ time: new Date().toISOString(), level, message: format(...args) })}\n`)
  Object.assign(console, { error: write('error'), warn: write('warn') })
  notices.write = (level, text) => write(level)(text)
  return () => {
    Object.assign(console, { error, warn })
    notices.write = before
  }
}
