/** What is written down: what was about to be done, and what became of it. */

import type { ActionKind, Effect, Initiator } from '../consent/action.ts'

export interface AuditEntry {
  action: ActionKind
  principal: string
  run: string
  initiator: Initiator
  server: string
  fingerprint: string
  primitive?: string
  pin?: string
  effect: Effect
  reasons: readonly string[]
  grant?: string
  /** Who was asked and what they said. */
  answer?: { kind: 'allow' | 'deny' | 'cancel'; scope?: string; by: string }
  /** As given; the log keeps a salted digest and a preview without secrets. */
  args?: unknown
  /** All that was known when it was decided, without the arguments, so that it can be decided again under other rules. */
  facts?: unknown
}

export type OutcomeKind = 'done' | 'failed' | 'cancelled' | 'refused'

export interface Outcome {
  kind: OutcomeKind
  durationMs: number
  resultBytes?: number
  error?: string
  tokens?: number
}

/** An append-only log. Each promise resolves when the record is on the disk, and rejects with ERR_AUDIT when it could not be put there. */
export interface AuditLog {
  /** What is about to be done. Nothing may be done before this has resolved. */
  intent(entry: AuditEntry): Promise<AuditIntent>
  /** What was not done: refused by policy or by a person. */
  refusal(entry: AuditEntry): Promise<void>
  close(): Promise<void>
}

export interface AuditIntent {
  readonly seq: number
  outcome(outcome: Outcome): Promise<void>
}
