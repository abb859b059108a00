/** Messages as rows of the timeline, in the order of time: a request and its answer are one row. */

import type { MessageView } from '../../../src/console/api.ts'
import { foreignName } from './foreign-text.ts'

/** Messages that the page keeps. Older ones are dropped from the page, and can be fetched again. */
export const MAX_MESSAGES = 20_000

export interface TimelineRow {
  /** The `seq` of the request or the notification. */
  seq: number
  at: number
  server: string
  from: 'host' | 'server'
  /** `tools/call search`. */
  title: string
  method: string
  kind: MessageView['kind']
  /** 1: it belongs to a row above: a question, a notice or a further round of a call. */
  depth: 0 | 1
  /** The `seq` of the row that it belongs to. */
  parent?: number
  /** The `seq` of the answer to its last round. */
  lastAnswer?: number
  /** How often the call was sent: a server that asks gets it again with the answers. */
  rounds?: number
  outcome: 'open' | 'done' | 'failed' | 'none'
  /** The `seq` of the answer. */
  answer?: number
  durationMs?: number
  failure?: string
  bytes: number
  violations: number
  revision?: string
  /** Asks only whether the other side is still there. */
  isKeepAlive?: boolean
}

export interface TimelineFilters {
  server?: string | undefined
  /** Words in the method, the name or the failure. */
  text?: string
  only?: 'failed' | 'slow' | 'violations' | 'requests' | undefined
  /** Leaves out answered keep-alive rows, unless the text searches for them. Default: false. */
  withoutKeepAlive?: boolean
}

/** An answer that took at least this long is slow. */
export const SLOW_MS = 500

/** Adds messages, newest last, each once. Keeps the newest. */
export function addMessages(known: readonly MessageView[], added: readonly MessageView[]): readonly MessageView[] {
  if (added.length === 0) return known
  const first = added.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY)
  const last = known.at(-1)?.seq ?? 0
  const isNewer = first > last
  const merged = isNewer ? [...known, ...sorted(added)] : mergedBySeq(known, added)
  return merged.length > MAX_MESSAGES ? merged.slice(-MAX_MESSAGES) : merged
}

const sorted = (messages: readonly MessageView[]): MessageView[] => [...messages].sort((a, b) => a.seq - b.seq)

function mergedBySeq(known: readonly MessageView[], added: readonly MessageView[]): MessageView[] {
  const all = new Map(known.map((message) => [message.seq, message]))
  for (const message of added) all.set(message.seq, message)
  return sorted([...all.values()])
}

/** Oldest first. */
export function timelineRows(messages: readonly MessageView[]): TimelineRow[] {
  const all: TimelineRow[] = []
  const rows = new Map<number, TimelineRow>()
  const met = new Set<string>()
  for (const message of messages) {
    const request = message.request === undefined ? undefined : rows.get(message.request)
    if (request) {
      addAnswer(request, message)
      const first = request.parent === undefined ? undefined : rows.get(request.parent)
      if (first && isRound(request, first)) addRound(first, request, message)
      continue
    }
    const row = rowOf(message)
    if (isKeepAlive(message, met)) row.isKeepAlive = true
    if (message.kind === 'request') rows.set(message.seq, row)
    const parent = topmost(rows, message.during)
    const above = all.at(-1)
    all.push(row)
    if (!parent) continue
    row.depth = 1
    row.parent = parent.seq
    if (isRound(row, parent)) beginRound(parent, row)
    // Something else came between: the row says where it belongs.
    if (above !== parent && above?.parent !== parent.seq) row.title = `${row.title} of ${parent.title}`
  }
  return all
}

/** `server/discover` opens a connection, and asks after that whether the server is still there. @param met changed: connections that were opened */
function isKeepAlive({ kind, method, server, connection }: MessageView, met: Set<string>): boolean {
  if (kind !== 'request') return false
  if (method !== 'server/discover') return method === 'ping'
  const key = `${connection} ${server}`
  return met.size === met.add(key).size
}

/** A question can itself be asked during a question. All of them stand under the call. */
function topmost(rows: ReadonlyMap<number, TimelineRow>, during: number | undefined): TimelineRow | undefined {
  const row = during === undefined ? undefined : rows.get(during)
  return row?.parent === undefined ? row : rows.get(row.parent)
}

const isRound = (row: TimelineRow, first: TimelineRow): boolean =>
  row.kind === 'request' && row.from === first.from && row.method === first.method

/** The call is open again until its last round is answered. */
function beginRound(first: TimelineRow, round: TimelineRow): void {
  first.rounds = (first.rounds ?? 1) + 1
  first.outcome = 'open'
  round.title = `round ${first.rounds}`
}

/** A call ends as its last round does. It took as long as its rounds, without the time in which the person answered between them. */
function addRound(first: TimelineRow, { outcome, failure }: TimelineRow, answer: MessageView): void {
  first.outcome = outcome
  first.durationMs = (first.durationMs ?? 0) + (answer.durationMs ?? 0)
  first.lastAnswer = answer.seq
  if (failure !== undefined) first.failure = failure
}

function addAnswer(row: TimelineRow, answer: MessageView): void {
  row.answer = answer.seq
  row.outcome = answer.kind === 'error' || answer.failure !== undefined ? 'failed' : 'done'
  row.bytes += answer.bytes
  row.violations += answer.violations ?? 0
  if (answer.durationMs !== undefined) row.durationMs = answer.durationMs
  if (answer.failure !== undefined) row.failure = answer.failure
}

function rowOf({ seq, at, server, from, method, name, kind, bytes, violations = 0, failure, revision }: MessageView): TimelineRow {
  return {
    seq,
    at,
    server,
    from,
    title: [method ?? (kind === 'invalid' ? 'not a message' : 'answer without a request'), name]
      .filter(Boolean)
      .map((part) => foreignName(part ?? ''))
      .join(' '),
    method: method ?? '',
    kind,
    depth: 0,
    outcome: kind === 'request' ? 'open' : kind === 'invalid' || failure !== undefined ? 'failed' : 'none',
    bytes,
    violations,
    ...(failure !== undefined && { failure }),
    ...(revision !== undefined && { revision }),
  }
}

/** Rows that match all filters. The call of a matching row stays, so that it can be seen where the row belongs. */
export function filteredRows(
  rows: readonly TimelineRow[],
  { server, text = '', only, withoutKeepAlive = false }: TimelineFilters,
): readonly TimelineRow[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const isHiding = withoutKeepAlive && words.length === 0
  if (server === undefined && words.length === 0 && only === undefined && !isHiding) return rows
  const matching = rows.filter(
    (row) => (server === undefined || row.server === server) && hasWords(row, words) && fits(row, only) && !(isHiding && isUneventful(row)),
  )
  const shown = new Set(matching.flatMap(({ seq, parent }) => (parent === undefined ? [seq] : [seq, parent])))
  return rows.filter(({ seq }) => shown.has(seq))
}

/** One that failed, waits or breaks a rule is worth a look. */
const isUneventful = ({ isKeepAlive: is = false, outcome, violations }: TimelineRow): boolean =>
  is && outcome === 'done' && violations === 0

function hasWords({ title, server, failure = '' }: TimelineRow, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const text = `${server} ${title} ${failure}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

function fits({ outcome, durationMs = 0, violations, kind }: TimelineRow, only: TimelineFilters['only']): boolean {
  switch (only) {
    case 'failed':
      return outcome === 'failed'
    case 'slow':
      return durationMs >= SLOW_MS
    case 'violations':
      return violations > 0
    case 'requests':
      return kind === 'request'
    default:
      return true
  }
}

/** The length of a latency bar, from 0 to 1. A logarithm, so that 1 ms and 10 s can be told apart: 1 ms is 0.05, 10 s is 1. */
export function latencyBar(ms: number | undefined): number {
  if (ms === undefined) return 0
  return Math.min(1, Math.max(0.05, Math.log10(Math.max(1, ms)) / 4))
}

const TESTABLE: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Whether a test can be made of it: an answered call, and not one of its further rounds. */
export const isTestable = ({ from, method, answer, outcome, depth }: TimelineRow): boolean =>
  from === 'host' && depth === 0 && answer !== undefined && outcome !== 'open' && TESTABLE.has(method)
