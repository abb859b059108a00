/** The records of the audit log as rows: an action, its decision and its outcome on one line. */

import type { AuditRecord } from '../../../src/host/index.ts'
import { foreignName } from './foreign-text.ts'
import { durationText } from './format.ts'

type Entry = Extract<AuditRecord, { kind: 'intent' | 'refusal' }>['entry']
type Outcome = Extract<AuditRecord, { kind: 'outcome' }>['outcome']

export type RowTone = 'plain' | 'fine' | 'waiting' | 'danger'

export interface AuditRow {
  seq: number
  at: number
  /** `deploy: call release`. */
  what: string
  server?: string
  /** `you`, `the model`. */
  who: string
  /** `allowed`, `denied`. */
  decision: string
  /** `you allowed it once`, `by a rule`. */
  because: string
  tone: RowTone
  /** `done in 12 ms`. Empty while it runs, and for a refusal. */
  outcome: string
  record: AuditRecord
  ended?: Outcome
}

const ACTIONS: Readonly<Record<string, string>> = {
  'server.launch': 'start',
  'server.connect': 'connect',
  'server.approve': 'enable',
  'tool.call': 'call',
  'tool.result': 'use the result of',
  'resource.read': 'read',
  'resource.result': 'use the text of',
  'resource.subscribe': 'follow',
  'prompt.get': 'fill in',
  'prompt.result': 'use the text of',
  'argument.complete': 'complete',
  'sampling.create': 'ask a model',
  'sampling.deliver': 'send the answer of a model',
  'elicit.form': 'show a form',
  'elicit.url': 'open a page',
  'roots.expose': 'share folders',
  'app.open': 'open an app',
  'app.call': 'call from an app',
  'app.message': 'send a message of an app',
  'task.cancel': 'cancel a task',
  'task.update': 'answer a task',
  'config.import': 'import servers',
}

/** All kinds of actions with their words, for a filter. */
export const ACTION_CHOICES = Object.entries(ACTIONS).map(([value, label]) => ({ value, label: `${label} (${value})` }))

const PEOPLE: Readonly<Record<string, string>> = { user: 'you', model: 'the model', app: 'an app', server: 'the server' }

const SCOPES: Readonly<Record<string, string>> = {
  once: 'once',
  turn: 'for this turn',
  session: 'for this conversation',
  always: 'always',
}

/** Newest first, as the records are. Outcomes join the row of their action; outcomes whose action is on another page are left out. */
export function auditRows(records: readonly AuditRecord[]): AuditRow[] {
  const outcomes = new Map<number, Outcome>()
  for (const record of records) if (record.kind === 'outcome') outcomes.set(record.intent, record.outcome)
  return records.flatMap((record) => (record.kind === 'outcome' ? [] : [rowOf(record, outcomes.get(record.seq))]))
}

function rowOf(record: Exclude<AuditRecord, { kind: 'outcome' }>, ended: Outcome | undefined): AuditRow {
  const { seq, at } = record
  if (record.kind !== 'intent' && record.kind !== 'refusal') {
    return { seq, at, what: logWords(record), who: 'the log', decision: '', because: '', tone: 'plain', outcome: '', record }
  }
  const { entry } = record
  const isRefused = record.kind === 'refusal'
  return {
    seq,
    at,
    what: actionWords(entry),
    server: entry.server,
    who: PEOPLE[entry.initiator] ?? entry.initiator,
    decision: isRefused ? 'denied' : 'allowed',
    because: becauseWords(entry, isRefused),
    tone: isRefused || ended?.kind === 'failed' || ended?.isToolError ? 'danger' : ended?.kind === 'done' ? 'fine' : 'plain',
    outcome: isRefused ? '' : outcomeWords(ended),
    record,
    ...(ended && { ended }),
  }
}

/** `notes: call add`. Requests of a server belong to its capabilities, which say nothing to a person. */
function actionWords({ action, server, primitive }: Pick<Entry, 'action' | 'server' | 'primitive'>): string {
  const verb = ACTIONS[action] ?? action
  return `${foreignName(server)}: ${verb}${primitive === undefined || primitive === 'capabilities' ? '' : ` ${foreignName(primitive)}`}`
}

/** Names under which the person answers: in the page, in a terminal, and in a program that gives no name. */
const PERSON = new Set(['console', 'terminal', 'the person'])

function becauseWords({ answer, grant, reasons, principal }: Entry, isRefused: boolean): string {
  const by = answer && (PERSON.has(answer.by) || answer.by === principal ? 'you' : foreignName(answer.by))
  if (answer?.kind === 'allow') return `${by} allowed it ${SCOPES[answer.scope ?? ''] ?? ''}`.trim()
  if (answer?.kind === 'deny') return `${by} denied it`
  if (answer?.kind === 'cancel') return 'the question was closed without an answer'
  if (grant !== undefined) return 'you allowed it earlier'
  return foreignName(reasons[0] ?? (isRefused ? 'no rule allows it' : 'a rule allows it'))
}

function outcomeWords(ended: Outcome | undefined): string {
  if (!ended) return 'no outcome yet'
  const time = durationText(ended.durationMs)
  switch (ended.kind) {
    case 'done':
      return ended.isToolError === true ? `ended with an error of the tool after ${time}` : `done in ${time}`
    case 'failed':
      return `failed after ${time}`
    case 'cancelled':
      return `cancelled after ${time}`
    default:
      return `refused after ${time}`
  }
}

function logWords(record: Extract<AuditRecord, { kind: 'checkpoint' | 'segment' | 'recovered' | 'retired' }>): string {
  if (record.kind === 'checkpoint') return `records ${record.checkpoint.from} to ${record.checkpoint.to} signed`
  if (record.kind === 'segment') return `file ${record.segment} begun`
  if (record.kind === 'retired') return `records up to ${record.upToSeq} ${record.isArchived ? 'archived' : 'removed'}`
  return `an incomplete line of ${record.bytes} bytes set aside`
}

/** Rows that contain all words of the search. */
export function matchingRows(rows: readonly AuditRow[], search: string): readonly AuditRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter(({ what, who, decision, because, outcome, seq }) => {
    const text = `${seq} ${what} ${who} ${decision} ${because} ${outcome}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
