/** The records of the audit log: intents, outcomes and refusals. */

import type { ActionKind, Effect, Initiator } from './action.ts'

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
  /** The effect of the rules, if the final effect differs: an `ask` without an answer becomes a refusal. */
  ruled?: Effect
  reasons: readonly string[]
  grant?: string
  /** The answer of the person, if they were asked. */
  answer?: { kind: 'allow' | 'deny' | 'cancel'; scope?: string; by: string }
  /** The log stores a salted digest and a preview without secrets. */
  args?: unknown
  /** The action without its arguments, so that it can be decided again under different rules. */
  facts?: unknown
}

export type OutcomeKind = 'done' | 'failed' | 'cancelled' | 'refused'

export interface Outcome {
  kind: OutcomeKind
  durationMs: number
  resultBytes?: number
  error?: string
  /** The tool answered with an error. */
  isToolError?: true
  tokens?: number
}

/** An append-only log. Each promise resolves when the record is on the disk, or rejects with ERR_AUDIT. */
export interface AuditLog {
  /** Records an action before it is done. The action must wait for this promise. */
  intent(entry: AuditEntry): Promise<AuditIntent>
  /** Records an action that the policy or a person refused. */
  refusal(entry: AuditEntry): Promise<void>
  close(): Promise<void>
}

export interface AuditIntent {
  readonly seq: number
  outcome(outcome: Outcome): Promise<void>
}

/** The stored form of arguments: enough to recognise and review them, without secrets. */
export interface KeptArguments {
  /** HMAC-SHA-256 of their canonical JSON, with the salt of the log. The salt never leaves the folder of the log. */
  digest: string
  bytes: number
  /** Without secrets. If it is too long, the start of its JSON as text. */
  preview: unknown
  isWhole: boolean
}

export type KeptEntry = Omit<AuditEntry, 'args'> & { args?: KeptArguments }

interface Sealed {
  /** The number of the record in the log, from 1. */
  seq: number
  /** Milliseconds of the wall clock. */
  at: number
  /** SHA-256 of the canonical JSON of everything else in the record, followed by the hash of the record before. */
  hash: string
}

/** A signature over all records since the last checkpoint. */
export interface Checkpoint {
  /** The first and the last record that it covers. */
  from: number
  to: number
  /** The root of the Merkle tree over their hashes. */
  root: string
  /** The hash of the last of them. */
  head: string
  keyId: string
  signedAt: number
  /** Ed25519 over the canonical JSON of the rest, base64. */
  signature: string
}

export type RecordBody =
  | { kind: 'intent'; entry: KeptEntry }
  | { kind: 'refusal'; entry: KeptEntry }
  | { kind: 'outcome'; intent: number; outcome: Outcome }
  | { kind: 'checkpoint'; checkpoint: Checkpoint }
  /** The first record of every segment. `previous` is the hash of the record before it, so that a segment can be verified alone. */
  | { kind: 'segment'; segment: number; previous: string }
  /** An unfinished line of a process that ended was moved to a file beside the segments. */
  | { kind: 'recovered'; bytes: number; digest: string; file: string }
  /** All segments up to this one were archived or removed, because they were too old or too many. The last of them ended with this record. */
  | { kind: 'retired'; upToSegment: number; upToSeq: number; lastHash: string; isArchived: boolean; keyId: string; signature: string }

/** A record of the audit log. */
export type AuditRecord = Sealed & RecordBody
