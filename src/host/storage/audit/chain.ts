/** The hash chain: each record is a line of canonical JSON with a hash over itself and all records before it. */

import { createHash } from 'node:crypto'
import { isObject } from '../../../base/json.ts'
import { canonicalJson } from '../../../protocol/model/digest-json.ts'
import type { AuditRecord, RecordBody } from '../../model/audit-record.ts'

/** The link before the first record. */
export const BEGINNING = '0'.repeat(64)

const KINDS: ReadonlySet<unknown> = new Set<RecordBody['kind']>([
  'intent',
  'refusal',
  'outcome',
  'checkpoint',
  'segment',
  'recovered',
  'retired',
])

export interface Link {
  seq: number
  hash: string
}

/** Adds number, time and hash to a record. */
export function seal(body: RecordBody, before: Link, at: number): AuditRecord {
  const rest = { ...body, seq: before.seq + 1, at }
  return { ...rest, hash: hashOf(rest, before.hash) }
}

export const lineOf = (record: AuditRecord): string => `${canonicalJson(record)}\n`

export type ReadLine = { record: AuditRecord } | { fault: string }

/** Reads a line including its newline. `fault`: why it is not the record that was written after `before`. */
export function readLine(line: Uint8Array, before: Link): ReadLine {
  const record = parsed(Buffer.from(line).toString('utf8'))
  if (!record) return { fault: 'it is not a record' }
  // A record is only ever written in canonical form. Any other form is an edit, even if the content is the same.
  if (!isAsWritten(record, line)) return { fault: 'it is not in canonical form' }
  if (record.seq !== before.seq + 1) return { fault: `its number is ${record.seq}: expected ${before.seq + 1}` }
  const { hash, ...rest } = record
  if (hash !== hashOf(rest, before.hash)) return { fault: 'its hash does not match its content and the records before it' }
  return { record }
}

function isAsWritten(record: AuditRecord, line: Uint8Array): boolean {
  try {
    return Buffer.from(lineOf(record)).equals(line)
  } catch {
    // JSON text may contain numbers and depths that canonical JSON cannot represent.
    return false
  }
}

/** Parses a line, and checks its shape only, not its place in the chain. */
export function parsed(text: string): AuditRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || !Number.isSafeInteger(value.seq) || typeof value.hash !== 'string') return undefined
  return KINDS.has(value.kind) ? (value as unknown as AuditRecord) : undefined
}

/** Leaves and nodes have different hash prefixes, so that one cannot be presented as the other. */
export function merkleRoot(hashes: readonly string[]): string {
  let level = hashes.map((hash) => sha256(Buffer.concat([LEAF, Buffer.from(hash, 'hex')])))
  if (level.length === 0) return BEGINNING
  while (level.length > 1) {
    const next: Buffer[] = []
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = level.slice(at, at + 2) as [Buffer, Buffer | undefined]
      next.push(right ? sha256(Buffer.concat([NODE, left, right])) : left)
    }
    level = next
  }
  return (level[0] as Buffer).toString('hex')
}

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

const hashOf = (rest: object, before: string): string =>
  sha256(Buffer.from(canonicalJson(rest)), Buffer.from(before, 'hex')).toString('hex')

export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
