/** The values of the policy, grants and the audit log. */

import type { AuditRecord, Grant } from '../host/index.ts'
import type { ArgumentRules, Effect, lintPolicy, Policy, Preset, Replayed } from '../host/policy-tools/index.ts'

/** The name of a layer of rules. */
export type LayerName = keyof Policy['layers'] & string

/** A rule as a sentence. */
export interface RuleView {
  id: string
  layer: LayerName
  effect: Effect
  /** Such as `Ask first, then call delete_* of notes`. */
  text: string
  reason?: string
}

/** A preset, and what it asks about. */
export interface PresetView {
  id: Preset
  text: string
}

/** The policy file of the user. */
export interface PolicyFileView {
  path: string
  /** Empty if the file does not exist. */
  text: string
  /** Give it back when you write, so that no other change is lost. */
  hash: string
  /** Why the file cannot be used. The policy that was in use before still applies. */
  problem?: string
}

/** The policy in use. */
export interface PolicyView {
  layers: Policy['layers']
  /** All rules as sentences, in the order of their layers. */
  rules: readonly RuleView[]
  /** The preset in use: the strictest one that a layer names. */
  preset: Preset
  presets: readonly PresetView[]
  /** Undefined: the host was not started with a file for the user's rules. */
  file?: PolicyFileView
  /** The folders that rules name as `${root:NAME}`. */
  roots: Readonly<Record<string, string>>
  isBypassing: boolean
}

/** A finding of the policy check. */
export type LintFinding = ReturnType<typeof lintPolicy>[number]

/** Which past decisions another policy would change. */
export interface ReplayView {
  counts: Readonly<Record<Replayed['kind'], number>>
  /** Without the unchanged ones, newest first, at most `maxRecords`. */
  decisions: readonly Exclude<Replayed, { kind: 'same' }>[]
}

/** A grant, in words. */
export interface GrantView extends Grant {
  /** Such as `notes may run search with any arguments`. */
  text: string
  /** Such as `until you revoke it`. */
  until: string
  /** The pattern for the arguments, in words. */
  pattern?: ArgumentRules
  isExpired: boolean
}

/** A page of the audit log, newest first. */
export interface AuditPage {
  records: readonly AuditRecord[]
  /** Give it as `before` for the next page. Undefined: there are no older records. */
  next?: number
}

/** A record of the audit log, and the decision behind it. */
export interface AuditDetails {
  record: AuditRecord
  /** The outcome of an intent, or the intent of an outcome. */
  related?: AuditRecord
  /** Why it was allowed or refused, one sentence per reason. The first decided. */
  why: readonly string[]
  /** The grant that allowed it. Undefined if there was none, or it is gone. */
  grant?: GrantView
  /** What the policy in use would decide now. Undefined if the record does not have what that needs. */
  now?: Effect
}

/** A part of the log as JSON Lines, oldest first. */
export interface AuditExport {
  text: string
  records: number
  /** Give it as `after` for the next part. Undefined: this is the last. */
  next?: number
}

/** A call, read or prompt of the person, from the audit log. */
export interface RecentCall {
  /** The record of the audit log. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  kind: 'tool' | 'resource' | 'prompt'
  server: string
  name: string
  /** The arguments, if the log has all of them. Undefined: they were too long, or had secrets. */
  args?: Readonly<Record<string, unknown>>
  by: 'person' | 'model'
  outcome: 'running' | 'done' | 'failed' | 'cancelled' | 'refused'
  durationMs?: number
  /** The server asked the person during the call, so the duration contains the time for the answer. */
  hasAnswers?: true
}
