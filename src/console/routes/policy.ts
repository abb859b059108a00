/** Routes for the policy and the audit log. */

import { join } from 'node:path'
import {
  ACTION_KINDS,
  type AuditFilter,
  type AuditRecord,
  type DecisionRecord,
  type Host,
  lintPolicy,
  type Replayed,
  readAudit,
  replayDecisions,
  STORAGE_PATHS,
  verifyAudit,
} from '../../host/index.ts'
import type { ReplayView } from '../api.ts'
import type { PolicyInUse } from '../policy-in-use.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { NAME } from './use.ts'

const DRAFT = input({ 'draft?': { type: 'string' } })

const RECORD_KINDS = ['intent', 'refusal', 'outcome', 'checkpoint', 'segment', 'recovered']

/** Records of one page, where the page gives no limit. */
const RECORDS = 100

export function policyRoutes({ host, policy, limits }: ConsoleServices): Route[] {
  const folder = join(host.folder, STORAGE_PATHS.audit)
  return [
    route('GET /api/policy', {}, () => {
      const { layers, roots, isBypassing = false } = policy.current.policy
      return { layers, roots, isBypassing }
    }),
    route('POST /api/policy/lint', { body: DRAFT }, async ({ body }) => ({
      findings: lintPolicy(await policy.withDraft(body.draft), knownNames(host)),
    })),
    route(
      'POST /api/policy/explain',
      { body: input({ tool: NAME, 'args?': { type: 'object' }, 'as?': { enum: ['person', 'model'] } }) },
      ({ body: { tool, args = {}, as = 'model' } }) => host.explain(tool, args, { as }),
    ),
    route('POST /api/policy/replay', { body: DRAFT }, ({ body, signal }) =>
      replay(folder, policy, body.draft, { maxRecords: limits.maxRecords, signal }),
    ),
    route(
      'GET /api/audit',
      {
        query: input({
          'before?': { type: 'integer', minimum: 1 },
          'limit?': { type: 'integer', minimum: 1, maximum: limits.maxRecords },
          'server?': { type: 'string' },
          'action?': { enum: ACTION_KINDS },
          'effect?': { enum: ['allow', 'ask', 'quarantine', 'deny'] },
          'kind?': { enum: RECORD_KINDS },
        }),
      },
      async ({ query: { before = Number.POSITIVE_INFINITY, limit = RECORDS, kind, ...filter }, signal }) => {
        const wanted = { ...filter, ...(kind !== undefined && { kinds: [kind] }) } as AuditFilter
        const newest: AuditRecord[] = []
        let hasOlder = false
        for await (const record of readAudit(folder, wanted)) {
          signal.throwIfAborted()
          if (record.seq >= before) break
          newest.push(record)
          if (newest.length > limit * 2) newest.splice(0, newest.length - limit)
          hasOlder ||= newest.length > limit
        }
        const records = newest.slice(-limit).reverse()
        const next = hasOlder ? records.at(-1)?.seq : undefined
        return { records, ...(next !== undefined && { next }) }
      },
    ),
    route('POST /api/audit/verify', {}, () => verifyAudit(folder)),
  ]
}

/** The servers, and the names of everything that was approved of each. Without servers every name would be unknown. */
function knownNames(host: Host): Record<string, string[]> | undefined {
  if (host.specs().length === 0) return undefined
  const pins = host.pins.list()
  return Object.fromEntries(
    host.specs().map(({ id }) => [id, pins.find(({ server }) => server === id)?.items.map(({ name }) => name) ?? []]),
  )
}

async function replay(
  folder: string,
  policy: PolicyInUse,
  draft: string | undefined,
  { maxRecords, signal }: { maxRecords: number; signal: AbortSignal },
): Promise<ReplayView> {
  const compiled = await policy.withDraft(draft)
  const counts: Record<Replayed['kind'], number> = { same: 0, changed: 0, unknown: 0, unreadable: 0 }
  const decisions: Exclude<Replayed, { kind: 'same' }>[] = []
  for await (const record of readAudit(folder, { kinds: ['intent', 'refusal'] })) {
    signal.throwIfAborted()
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    for (const replayed of replayDecisions([pastOf(record)], compiled)) {
      counts[replayed.kind]++
      if (replayed.kind !== 'same') decisions.push(replayed as Exclude<Replayed, { kind: 'same' }>)
      if (decisions.length > maxRecords * 2) decisions.splice(0, decisions.length - maxRecords)
    }
  }
  return { counts, decisions: decisions.slice(-maxRecords).reverse() }
}

function pastOf({ seq, entry }: Extract<AuditRecord, { kind: 'intent' | 'refusal' }>): DecisionRecord {
  const { effect, ruled = effect, facts, grant, args } = entry
  return {
    seq,
    effect: ruled,
    facts,
    ...(grant !== undefined && { grant }),
    ...(args?.isWhole && { args: args.preview as Record<string, unknown> }),
  }
}
