/** Writes what Portico says in the log as lines with time and level, and for JSON also what the process prints with `console.error` and `console.warn`. */

import cluster from 'node:cluster'
import { format } from 'node:util'
import { sendNotices } from '../../base/notices.ts'
import { WORKER_NUMBER } from '../../base/worker-number.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Output } from '../shared-terminal.ts'

type Level = 'error' | 'warn' | 'info'

/** Which of several processes writes a line. Not for children of a worker, which have its environment. */
const WRITER = cluster.isWorker ? { worker: Number(process.env[WORKER_NUMBER]) || undefined } : {}

export function writeJsonLine({ stream }: Output, level: Level, message: string, members: object = {}): void {
  stream.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...WRITER, ...members })}\n`)
}

/**
 * A collector of logs takes each line for a record of its own, and errors have a stack of many lines. So with JSON every line is an object.
 * Returns a function that ends it.
 */
export function consoleLines(as: 'text' | 'json', output: Output): () => void {
  const write = (level: Level, message: string): void => {
    if (as === 'json') writeJsonLine(output, level, message)
    else output.stream.write(`${safe`${new Date().toISOString()} ${level} ${untrustedLines(message)}`.text}\n`)
  }
  const endNotices = sendNotices(write)
  if (as === 'text') return endNotices
  const { error, warn } = console
  const written =
    (level: Level) =>
    (...args: unknown[]): void =>
      write(level, format(...args))
  Object.assign(console, { error: written('error'), warn: written('warn') })
  // Warnings of Node.
  const before = process.listeners('warning')
  const warned = ({ name, message }: Error): void => write('warn', `${name}: ${message}`)
  process.removeAllListeners('warning').on('warning', warned)
  return () => {
    process.off('warning', warned)
    for (const listener of before) process.on('warning', listener)
    Object.assign(console, { error, warn })
    endNotices()
  }
}
