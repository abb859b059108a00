/** What is written down: what was about to be done, and what became of it. */

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
  /** What the rules said, where something else came of it: a question that nobody answered is refused, and was a question. */
  ruled?: Effect
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

/** What is kept of arguments: enough to recognise and to review them, and nothing secret. */
export interface KeptArguments {
  /** HMAC-SHA-256 of their canonical JSON, with the salt of the log, which never leaves its folder. */
  digest: string
  bytes: number
  /** Without secrets; when it is too long for the log, the beginning of its JSON as a text. */
  preview: unknown
  isWhole: boolean
}

export type KeptEntry = Omit<AuditEntry, 'args'> & { args?: KeptArguments }

interface Sealed {
  /** Counts all records of the log, from 1. */
  seq: number
  /** Milliseconds of the wall clock. */
  at: number
  /** SHA-256 of the canonical JSON of everything else in the record, followed by the hash of the record before. */
  hash: string
}

/** A statement about the records up to the one before it, signed with the key of the log. */
export interface Checkpoint {
  /** The records it is about: since the last checkpoint, or the beginning. */
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
  /** The first of every segment. `previous` is the hash before it, so that a segment can be read without those before. */
  | { kind: 'segment'; segment: number; previous: string }
  /** A line that a process had not finished when it ended was set aside, in a file beside the segments. */
  | { kind: 'recovered'; bytes: number; digest: string; file: string }

export type AuditRecord = Sealed & RecordBody
