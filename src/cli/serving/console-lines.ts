/** Writes what Portico says in the log as lines with time and level, and for JSON also what the process prints with `console.error` and `console.warn`. */

import { format } from 'node:util'
import { sendNotices } from '../../base/notices.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Output } from '../shared-terminal.ts'

type Level = 'error' | 'warn' | 'info'

/**
 * A collector of logs takes each line for a record of its own, and errors have a stack of many lines. So with JSON every line is an object.
 * Returns a function that ends it.
 */
export function consoleLines(as: 'text' | 'json', { stream }: Output): () => void {
  const write = (level: Level, message: string): void => {
    const time = new Date().toISOString()
    stream.write(`${as === 'json' ? JSON.stringify({ time, level, message }) : safe`${time} ${level} ${untrustedLines(message)}`.text}\n`)
  }
  const endNotices = sendNotices(write)
  if (as === 'text') return endNotices
  const { error, warn } = console
  const written =
    (level: Level) =>
    (...args: unknown[]): void =>
      write(level, format(...args))
  Object.assign(console, { error: written('error'), warn: written('warn') })
  return () => {
    Object.assign(console, { error, warn })
    endNotices()
  }
}
