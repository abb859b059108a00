/** How records hang together: each is a line of canonical JSON that ends in a hash over itself and everything before. */

import { createHash } from 'node:crypto'
import { isObject } from '../../../base/json.ts'
import { canonicalJson } from '../../../protocol/model/canonical-json.ts'
import type { AuditRecord, RecordBody } from '../../model/audit-record.ts'

/** What the first record of a log follows. */
export const BEGINNING = '0'.repeat(64)

const KINDS: ReadonlySet<unknown> = new Set<RecordBody['kind']>(['intent', 'refusal', 'outcome', 'checkpoint', 'segment', 'recovered'])

export interface Link {
  seq: number
  hash: string
}

/** Puts a record behind the one before it. */
export function seal(body: RecordBody, before: Link, at: number): AuditRecord {
  const rest = { ...body, seq: before.seq + 1, at }
  return { ...rest, hash: hashOf(rest, before.hash) }
}

export const lineOf = (record: AuditRecord): string => `${canonicalJson(record)}\n`

export type ReadLine = { record: AuditRecord } | { fault: string }

/** Reads a line with its end, and says what is wrong when it is not the one that was written behind `before`. */
export function readLine(line: Uint8Array, before: Link): ReadLine {
  const record = parsed(Buffer.from(line).toString('utf8'))
  if (!record) return { fault: 'it is not a record' }
  // Of several ways to write the same record only one is ever written: any other is an edit, even if it changes nothing.
  if (!isAsWritten(record, line)) return { fault: 'it is not written the way the log writes' }
  if (record.seq !== before.seq + 1) return { fault: `its number is ${record.seq}, and ${before.seq + 1} comes here` }
  const { hash, ...rest } = record
  if (hash !== hashOf(rest, before.hash)) return { fault: 'its hash does not fit it and what stands before it' }
  return { record }
}

function isAsWritten(record: AuditRecord, line: Uint8Array): boolean {
  try {
    return Buffer.from(lineOf(record)).equals(line)
  } catch {
    // JSON has numbers that are none when they are read, and depths that nothing is written in.
    return false
  }
}

/** The record in a line, if it has the shape of one; nothing is said about whether it belongs there. */
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

/** Leaves and nodes are hashed with different prefixes, so that neither can be passed off as the other. */
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
