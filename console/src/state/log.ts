/** The log of a server as lines. */

import type { LogEntry, ServerFacts } from '../../../src/console/api.ts'
import { foreignName } from './foreign-text.ts'

export interface LogLine {
  seq: number
  at: number
  /** A level of the protocol, or `printed` for what the program wrote to standard error. */
  level: string
  text: string
  isProblem: boolean
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
const ORDER: readonly string[] = LEVELS

/** What a server can be told to log. */
export const LEVEL_CHOICES = LEVELS.map((value, at) => ({
  value,
  label: at === 0 ? 'debug: everything' : at === LEVELS.length - 1 ? value : `${value} and worse`,
}))

/** How the level is set, or why it cannot be. */
export function levelHelp(facts: Pick<ServerFacts, 'logging' | 'revision'> | undefined): string {
  if (!facts) return 'The level of its log messages can be set while it is connected.'
  if (!facts.logging) return 'It does not declare logging, so there is no level to set. What it prints is below.'
  return facts.logging.method === undefined
    ? `In revision ${facts.revision} each request names the level. It holds until Portico stops.`
    : `Set with ${facts.logging.method}. It holds until Portico stops.`
}

export const LOG_LEVELS = [
  { value: 'printed', label: 'Printed by the program' },
  { value: 'info', label: 'Info and worse' },
  { value: 'warning', label: 'Warnings and worse' },
  { value: 'error', label: 'Errors' },
]

/** Oldest first. `level`: at least this bad, or `printed`. */
export function logLines(entries: readonly LogEntry[], level?: string): LogLine[] {
  return entries.map(lineOf).filter((line) => isShown(line, level))
}

/** Fetched entries and those of events, each once. A server that was added again counts from 1. */
export function joinedLog(fetched: readonly LogEntry[], added: readonly LogEntry[]): readonly LogEntry[] {
  if (added.length === 0) return fetched
  const last = fetched.at(-1)
  return [...fetched, ...added.filter(({ seq, at }) => last === undefined || seq > last.seq || at > last.at)]
}

function lineOf({ seq, at, log }: LogEntry): LogLine {
  if (log.kind === 'stderr') return { seq, at, level: 'printed', text: foreignName(log.line), isProblem: false }
  const { level, logger, data } = log.message
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return {
    seq,
    at,
    level,
    text: foreignName([logger, text].filter(Boolean).join(': ')),
    isProblem: ORDER.indexOf(level) >= ORDER.indexOf('warning'),
  }
}

function isShown({ level }: LogLine, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  if (wanted === 'printed') return level === 'printed'
  return ORDER.indexOf(level) >= ORDER.indexOf(wanted)
}
