/** Routes for the audit log: pages, one record with its reasons, verification, export. */

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditFilter, type AuditRecord, type Host, readAudit, readAuditPage, STORAGE_PATHS, verifyAudit } from '../../host/index.ts'
import { ACTION_KINDS, pastDecision, replayDecisions } from '../../host/policy-tools/index.ts'
import type { AuditDetails, AuditExport, BrokenAudit, RecentCall } from '../api.ts'
import { conflict, invalid, notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { grantView } from '../words/grant-text.ts'

const RECORD_KINDS = ['intent', 'refusal', 'outcome', 'checkpoint', 'segment', 'recovered', 'retired']

/** Records of one page, where the page gives no limit. */
const RECORDS = 100
/** Bytes of one part of an export. */
const EXPORT_BYTES = 4 * 1024 * 1024

export function auditRoutes({ host, limits }: ConsoleServices): Route[] {
  const folder = join(host.folder, STORAGE_PATHS.audit)
  const limit = { type: 'integer', minimum: 1, maximum: limits.maxRecords }
  return [
    route(
      'GET /api/audit',
      {
        query: input({
          'before?': { type: 'integer', minimum: 1 },
          'limit?': limit,
          'server?': { type: 'string' },
          'action?': { enum: ACTION_KINDS },
          'effect?': { enum: ['allow', 'ask', 'quarantine', 'deny'] },
          'kind?': { enum: RECORD_KINDS },
          'run?': { type: 'string', maxLength: 200 },
          'q?': { type: 'string', maxLength: 200 },
        }),
      },
      async ({ query: { limit: most = RECORDS, kind, q, ...filter }, signal }) => {
        const wanted = { ...filter, ...(kind !== undefined && { kinds: [kind] }) } as AuditFilter
        const words = q?.toLowerCase()
        const isWanted = (record: AuditRecord): boolean => words === undefined || JSON.stringify(record).toLowerCase().includes(words)
        return readAuditPage(folder, { ...wanted, limit: most, isWanted, signal })
      },
    ),
    route('GET /api/audit/export', { query: input({ 'after?': { type: 'integer', minimum: 0 } }) }, ({ query: { after = 0 }, signal }) =>
      exported(folder, after, signal),
    ),
    route('GET /api/audit/:seq', {}, ({ params, signal }) => details(host, folder, numberIn(params.seq), signal)),
    route('POST /api/audit/verify', {}, () => verifyAudit(folder)),
    route('POST /api/audit/break-copy', {}, () => breakCopy(folder)),
    route(
      'GET /api/calls/recent',
      { query: input({ 'limit?': { ...limit, maximum: 100 }, 'server?': { type: 'string' } }) },
      async ({ query: { limit: most = 20, server }, signal }) => ({ calls: await recentCalls(folder, most, server, signal) }),
    ),
  ]
}

function numberIn(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid(`seq: expected the number of a record, got ${JSON.stringify(text)}`)
  return Number(text)
}

type Decided = Extract<AuditRecord, { kind: 'intent' | 'refusal' }>

const isDecided = (record: AuditRecord | undefined): record is Decided => record?.kind === 'intent' || record?.kind === 'refusal'

async function details(host: Host, folder: string, seq: number, signal: AbortSignal): Promise<AuditDetails> {
  const record = await recordAt(folder, seq, signal)
  if (!record) throw notFound(`The audit log has no record ${seq}`)
  const related =
    record.kind === 'outcome'
      ? await recordAt(folder, record.intent, signal)
      : record.kind === 'intent'
        ? await outcomeOf(folder, seq, signal)
        : undefined
  const decided = [record, related].find(isDecided)
  const grant = (await host.grants.list()).find(({ id }) => id === decided?.entry.grant)
  const [again] = decided ? replayDecisions([pastDecision(decided)], host.policy.current()) : []
  return {
    record,
    ...(related && { related }),
    why: decided ? whyTexts(decided) : [],
    ...(grant && { grant: grantView(grant, Date.now()) }),
    ...(again && (again.kind === 'same' || again.kind === 'changed') && { now: again.after }),
  }
}

async function recordAt(folder: string, seq: number, signal: AbortSignal): Promise<AuditRecord | undefined> {
  const { records } = await readAuditPage(folder, { before: seq + 1, limit: 1, signal })
  return records[0]?.seq === seq ? records[0] : undefined
}

async function outcomeOf(folder: string, intent: number, signal: AbortSignal): Promise<AuditRecord | undefined> {
  for await (const record of readAudit(folder, { kinds: ['outcome'], fromSeq: intent })) {
    signal.throwIfAborted()
    if (record.kind === 'outcome' && record.intent === intent) return record
  }
  return undefined
}

const ANSWERS = { allow: 'allowed it', deny: 'denied it', cancel: 'closed the question without an answer' } as const

/** The answer of the person decides, if they were asked. */
function whyTexts({ entry }: Decided): string[] {
  const { answer, reasons, grant, principal } = entry
  const scope = answer?.scope === undefined || answer.scope === 'once' ? '' : ` (${answer.scope})`
  return [
    ...(answer
      ? [`You were asked, and ${answer.by === 'console' || answer.by === principal ? 'you' : answer.by} ${ANSWERS[answer.kind]}${scope}`]
      : []),
    // An answer makes a grant of its own.
    ...(grant === undefined || answer ? [] : ['You allowed it before, and the grant still applied']),
    ...reasons.filter((reason) => !answer || !reason.startsWith(`${answer.by} approved this`)),
  ]
}

async function exported(folder: string, after: number, signal: AbortSignal): Promise<AuditExport> {
  const lines: string[] = []
  let bytes = 0
  let last = after
  for await (const record of readAudit(folder, { fromSeq: after + 1 })) {
    signal.throwIfAborted()
    const line = `${JSON.stringify(record)}\n`
    bytes += Buffer.byteLength(line)
    // At least one record: a part without any would never end.
    if (bytes > EXPORT_BYTES && lines.length > 0) return { text: lines.join(''), records: lines.length, next: last }
    lines.push(line)
    last = record.seq
  }
  return { text: lines.join(''), records: lines.length }
}

/** Bytes of a log that is copied. A larger one is not broken for show. */
const MAX_COPY_BYTES = 64 * 1024 * 1024

/** Copies the log, changes one byte of a decision in the copy, and verifies it before and after. The log itself stays as it is. */
async function breakCopy(folder: string): Promise<BrokenAudit> {
  const copy = await mkdtemp(join(tmpdir(), 'portico-audit-'))
  try {
    // The private key stays where it is: verifying needs the public one only.
    await cp(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.key') && !path.endsWith('.lock') })
    const before = await verifyAudit(copy)
    const changed = await changeOne(copy)
    return { before, after: await verifyAudit(copy), changed }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function changeOne(copy: string): Promise<BrokenAudit['changed']> {
  for (const name of (await readdir(copy)).filter((each) => each.endsWith('.jsonl')).sort()) {
    const bytes = await readFile(join(copy, name))
    if (bytes.length > MAX_COPY_BYTES) throw conflict(`The audit log is too large to copy: more than ${MAX_COPY_BYTES} bytes`)
    const text = bytes.toString('utf8')
    const at = text.indexOf('"effect":"allow"')
    if (at < 0) continue
    const line = text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at))
    await writeFile(join(copy, name), `${text.slice(0, at)}"effect":"allOw"${text.slice(at + 16)}`)
    const { seq } = JSON.parse(line) as { seq: number }
    return { seq, before: '"effect":"allow"', after: '"effect":"allOw"' }
  }
  throw conflict('The audit log has no decision yet: do something first')
}

const CALLS = { 'tool.call': 'tool', 'resource.read': 'resource', 'prompt.get': 'prompt' } as const

async function recentCalls(folder: string, limit: number, server: string | undefined, signal: AbortSignal): Promise<RecentCall[]> {
  const outcomes = new Map<number, Extract<AuditRecord, { kind: 'outcome' }>>()
  const answers: Decided[] = []
  const { records } = await readAuditPage(folder, {
    limit: limit * 4,
    kinds: ['intent', 'refusal', 'outcome'],
    signal,
    isWanted: (record) =>
      record.kind === 'outcome' ||
      (isDecided(record) && isCallOrAnswer(record.entry.action) && (server === undefined || record.entry.server === server)),
  })
  const calls: RecentCall[] = []
  for (const record of records) {
    if (record.kind === 'outcome') outcomes.set(record.intent, record)
    if (!isDecided(record) || calls.length >= limit) continue
    const { entry, seq, at } = record
    if (!(entry.action in CALLS)) {
      answers.push(record)
      continue
    }
    const { outcome, seq: end = Number.POSITIVE_INFINITY } = outcomes.get(seq) ?? {}
    const hasAnswers = answers.some((each) => each.entry.server === entry.server && each.seq > seq && each.seq < end)
    calls.push({
      seq,
      at,
      kind: CALLS[entry.action as keyof typeof CALLS],
      server: entry.server,
      name: entry.primitive ?? '',
      ...(isComplete(entry.args) && { args: entry.args.preview as Record<string, unknown> }),
      by: entry.initiator === 'user' ? 'person' : 'model',
      outcome: record.kind === 'refusal' ? 'refused' : outcome?.isToolError ? 'failed' : (outcome?.kind ?? 'running'),
      ...(outcome && { durationMs: outcome.durationMs }),
      ...(hasAnswers && { hasAnswers }),
    })
  }
  return calls
}

/** A form or a page of the server, during a call. */
const isCallOrAnswer = (action: string): boolean => action in CALLS || action.startsWith('elicit.')

/** A preview with other text than the arguments had: a secret was removed. */
const isComplete = (args: Decided['entry']['args']): args is NonNullable<typeof args> =>
  args?.isWhole === true && Buffer.byteLength(JSON.stringify(args.preview)) === args.bytes
