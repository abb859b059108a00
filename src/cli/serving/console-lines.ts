/** Writes what the process prints with `console.error` and `console.warn` as JSON, one object a line. */

import { format } from 'node:util'
import type { Output } from '../shared-terminal.ts'

/** Errors have a stack of many lines, and a collector of logs takes each line for a record of its own. Returns a function that ends it. */
export function consoleLines({ stream }: Output): () => void {
  const { error, warn } = console
  const write =
    (level: 'error' | 'warn') =>
    (...args: unknown[]): void =>
      void stream.write(`${JSON.stringify({ time: new Date().toISOString(), level, message: format(...args) })}\n`)
  Object.assign(console, { error: write('error'), warn: write('warn') })
  return () => void Object.assign(console, { error, warn })
}
