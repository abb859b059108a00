/** Routes for the policy: rules, presets, drafts, and what they decide. */

import { join } from 'node:path'
import { type Host, McpError, readAudit, STORAGE_PATHS } from '../../host/index.ts'
import {
  type CompiledPolicy,
  lintPolicy,
  matchingRules,
  PRESETS,
  pastDecision,
  type Replayed,
  replayDecisions,
} from '../../host/policy-tools/index.ts'
import type { PolicyFileView, PolicyView, PresetView, ReplayView } from '../api.ts'
import { conflict } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { ruleViews } from '../words/rule-text.ts'
import { NAME } from './use.ts'

const DRAFT = input({ 'draft?': { type: 'string' } })

export function policyRoutes({ host, byHand, events, limits }: ConsoleServices): Route[] {
  const folder = join(host.folder, STORAGE_PATHS.audit)
  const changed = async (): Promise<PolicyView> => {
    events.publish('policy', { preset: host.policy.current().preset })
    return policyView(host)
  }
  return [
    route('GET /api/policy', {}, () => policyView(host)),
    route('PUT /api/policy', { body: input({ text: { type: 'string' }, 'hash?': { type: 'string' } }) }, async ({ body }) => {
      if (body.hash !== undefined && (await host.policy.read()).hash !== body.hash)
        throw conflict('The policy file was changed meanwhile: read it again')
      await host.policy.write(body.text, body.hash)
      return changed()
    }),
    route('POST /api/policy/preset', { body: input({ preset: { enum: PRESETS } }) }, async ({ body: { preset } }) => {
      await host.policy.usePreset(preset)
      return changed()
    }),
    route('POST /api/policy/lint', { body: DRAFT }, async ({ body: { draft } }) => ({
      findings: lintPolicy(await withDraft(host, draft), knownNames(host)),
    })),
    route(
      'POST /api/policy/explain',
      { body: input({ tool: NAME, 'args?': { type: 'object' }, 'as?': { enum: ['person', 'model'] } }) },
      ({ body: { tool, args = {}, as = 'model' } }) => host.explain(tool, args, { as, conversation: byHand.emptied() }),
    ),
    route('POST /api/policy/replay', { body: DRAFT }, async ({ body: { draft }, signal }) =>
      replay(folder, await withDraft(host, draft), { maxRecords: limits.maxRecords, signal }),
    ),
    route('GET /api/policy/hits', {}, async ({ signal }) => ({ hits: await hitsIn(folder, host.policy.current(), signal) })),
  ]
}

const withDraft = async (host: Host, draft: string | undefined): Promise<CompiledPolicy> =>
  draft === undefined ? host.policy.current() : host.policy.draft(draft)

const PRESET_VIEWS: readonly PresetView[] = [
  { id: 'cautious', text: 'Every call of a model is asked about, and so is the first offering of a server.' },
  { id: 'balanced', text: 'Calls of tools that you accepted as read-only are not asked about, unless private data would leave.' },
  { id: 'trusting', text: 'Calls of trusted servers are not asked about, unless they are destructive or leave this computer.' },
]

async function policyView(host: Host): Promise<PolicyView> {
  const { policy, preset } = host.policy.current()
  const { layers, roots, isBypassing = false } = policy
  const file = host.policy.file === undefined ? undefined : await fileView(host, host.policy.file)
  return { layers, rules: ruleViews(layers), preset, presets: PRESET_VIEWS, ...(file && { file }), roots, isBypassing }
}

async function fileView(host: Host, path: string): Promise<PolicyFileView> {
  const { text, hash } = await host.policy.read()
  const problem = await host.policy.draft(text === '' ? 'rules: []' : text).then(
    () => undefined,
    (error: unknown) => (error instanceof McpError ? error.message : undefined),
  )
  return { path, text, hash, ...(problem !== undefined && { problem }) }
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
  compiled: CompiledPolicy,
  { maxRecords, signal }: { maxRecords: number; signal: AbortSignal },
): Promise<ReplayView> {
  const counts: Record<Replayed['kind'], number> = { same: 0, changed: 0, unknown: 0, unreadable: 0 }
  const decisions: Exclude<Replayed, { kind: 'same' }>[] = []
  for await (const record of readAudit(folder, { kinds: ['intent', 'refusal'] })) {
    signal.throwIfAborted()
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    for (const replayed of replayDecisions([pastDecision(record)], compiled)) {
      counts[replayed.kind]++
      if (replayed.kind !== 'same') decisions.push(replayed as Exclude<Replayed, { kind: 'same' }>)
      if (decisions.length > maxRecords * 2) decisions.splice(0, decisions.length - maxRecords)
    }
  }
  return { counts, decisions: decisions.slice(-maxRecords).reverse() }
}

/** How many past actions each rule in use matches. */
async function hitsIn(folder: string, policy: CompiledPolicy, signal: AbortSignal): Promise<Record<string, number>> {
  const hits = new Map<string, number>()
  for await (const record of readAudit(folder, { kinds: ['intent', 'refusal'] })) {
    signal.throwIfAborted()
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    for (const id of matchingRules(pastDecision(record), policy)) hits.set(id, (hits.get(id) ?? 0) + 1)
  }
  return Object.fromEntries(hits)
}
