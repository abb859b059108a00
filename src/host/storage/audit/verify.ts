/** Verifies a log, and finds the first record that was changed. */

import type { FileHandle } from 'node:fs/promises'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../../base/text/counted.ts'
import { readPlainText } from '../../../files/plain-file.ts'
import { codeOf } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { AuditRecord, Checkpoint } from '../../model/audit-record.ts'
import { readAnchors } from './anchor.ts'
import { BEGINNING, type Link, merkleRoot, parsed, readLine, sha256 } from './chain.ts'
import { type IncompleteLine, readIncompleteLine } from './incomplete-line.ts'
import { startOf, TORN_NAME } from './retention.ts'
import { linesOf, openSegment, PUBLIC_KEY_FILE, segmentName, segmentsIn } from './segments.ts'
import { type CheckSignature, checkRetiredRecord, signatureCheck } from './signing.ts'

export interface VerifyOptions {
  /** The public key in PEM, from a trusted copy. Default: the key in the folder, which a forger could have replaced too. */
  publicKey?: string
  /** Checkpoints from a second location, or the file that contains them. */
  anchors?: readonly Checkpoint[] | string
  /** The folder to which old segments were moved. They are then verified, too. Default: verification begins with the oldest segment of the log. */
  archive?: string
}

/** The result of `verifyAudit`. */
export interface AuditVerdict {
  ok: boolean
  /** The number of good records before the first bad one. */
  records: number
  /** How many older records were archived or removed, and are not verified. */
  retired: number
  /** Intents without an outcome: after a crash, or because a record is missing. */
  unmatchedIntents: readonly number[]
  /** How many incomplete records were set aside after crashes. */
  recovered: number
  /** The last record covered by a valid signature. */
  signedUpTo: number
  firstBad: BadRecord | undefined
}

export interface BadRecord {
  /** The file name of the segment. */
  segment: string
  /** The number of the record, or the expected number. */
  seq: number
  /** The line in the file, from 1. 0: no line. */
  line: number
  reason: string
}

/** The largest number of intents without an outcome. A host never runs nearly as many actions at the same time. */
const MAX_UNMATCHED = 100_000
const MAX_LINE_BYTES = 16 * 1024 * 1024
/** How often the last line is read before it counts as incomplete: another process may still be writing it. */
const LAST_LINE_TRIES = 5
const LAST_LINE_WAIT_MS = 50

interface Walk {
  check: CheckSignature
  /** The link before the first record that is there. */
  start: Link
  /** The link before the first record of each segment. */
  borders: Map<number, Link>
  /** The records about retired segments, oldest first. */
  retired: { seq: number; upToSegment: number; isArchived: boolean }[]
  link: Link
  unsigned: string[]
  open: Set<number>
  recovered: number
  signedUpTo: number
  /** The hashes in the anchors, by record number. */
  awaited: Map<number, string>
  /** The last record that must exist: the newest checkpoint in the anchors. */
  reaches: number
}

/**
 * Verifies the whole log, and reports the first record that was changed. Records cut off at the end are only detected with `anchors`
 * for later records.
 *
 * @example
 * const verdict = await verifyAudit(folder, { anchors: '/mnt/backup/checkpoints' })
 */
export async function verifyAudit(folder: string, { publicKey, anchors, archive }: VerifyOptions = {}): Promise<AuditVerdict> {
  const check = signatureCheck(publicKey ?? (await keptPublicKey(folder)))
  const given = typeof anchors === 'string' ? await readAnchors(anchors) : (anchors ?? [])
  const first = { seq: 0, hash: BEGINNING }
  const walk: Walk = {
    check,
    start: first,
    borders: new Map(),
    retired: [],
    link: first,
    unsigned: [],
    open: new Set(),
    recovered: 0,
    signedUpTo: 0,
    awaited: new Map(given.map(({ to, head }) => [to, head])),
    reaches: given.reduce((most, { to }) => Math.max(most, to + 1), 0),
  }
  const forged = given.find((anchor) => check(anchor) !== undefined)
  if (forged) throw new McpError('ERR_AUDIT', `The checkpoint for record ${forged.to} in the anchors is invalid: ${check(forged)}`)
  return verdict(walk, await firstBad(folder, archive, walk))
}

/** Many times the size of a public key. */
const MAX_KEY_BYTES = 64 * 1024

async function keptPublicKey(folder: string): Promise<string> {
  try {
    return await readPlainText(join(folder, PUBLIC_KEY_FILE), MAX_KEY_BYTES)
  } catch (error) {
    throw new McpError('ERR_AUDIT', `No audit log in ${folder}: ${PUBLIC_KEY_FILE} cannot be read (${codeOf(error)})`, { cause: error })
  }
}

async function firstBad(folder: string, archive: string | undefined, walk: Walk): Promise<BadRecord | undefined> {
  const kept = await segmentsIn(folder)
  const archived = archive === undefined ? [] : (await segmentsIn(archive)).filter((number) => !kept.includes(number))
  const segments = [...archived, ...kept].sort((one, other) => one - other)
  const first = segments[0] ?? 1
  if (first > 1) {
    walk.start = (await startOf(archived.includes(first) ? (archive as string) : folder, first)).before
    walk.link = walk.start
  }
  for (const [at, number] of segments.entries()) {
    const segment = segmentName(number)
    if (number !== first + at)
      return { segment, seq: walk.link.seq + 1, line: 1, reason: `${segmentName(first + at)}, which comes before it, is missing` }
    const place = archived.includes(number) ? (archive as string) : folder
    walk.borders.set(number, walk.link)
    const handle = await openSegment(place, number, 'read')
    try {
      const bad = await badIn(place, handle, number, walk)
      if (bad) return { segment, ...bad }
    } finally {
      await handle.close()
    }
  }
  // Opening a log writes its first record at once, so an empty log is damaged.
  if (walk.link.seq === 0 && walk.reaches === 0)
    return {
      segment: segmentName(1),
      seq: 1,
      line: 0,
      reason: 'the log has a key but no records: its files were removed or emptied',
    }
  // A forger can remove segments, but cannot sign a record about it.
  const retired = walk.retired.find(({ seq, upToSegment }) => upToSegment >= first - 1 && seq <= walk.signedUpTo)
  if (first > 1 && !retired)
    return {
      segment: segmentName(1),
      seq: 1,
      line: 0,
      reason: `the segments before ${segmentName(first)} are missing, and no signed record says that they were retired`,
    }
  if (first > 1 && retired?.isArchived && archive !== undefined)
    return {
      segment: segmentName(first - 1),
      seq: walk.start.seq,
      line: 0,
      reason: `a signed record says that it was archived, but it is not in ${archive}`,
    }
  if (walk.link.seq >= walk.reaches) return undefined
  const reason = `the log ends before this record, but a checkpoint in the anchors covers ${counted(walk.reaches, 'record')}`
  return { segment: segmentName(segments.at(-1) ?? 1), seq: walk.link.seq + 1, line: 0, reason }
}

async function badIn(folder: string, handle: FileHandle, number: number, walk: Walk): Promise<Omit<BadRecord, 'segment'> | undefined> {
  let line = 0
  let offset = 0
  for (let tries = 1; ; tries++) {
    let isCut = false
    for await (const each of linesOf(handle, offset, MAX_LINE_BYTES)) {
      const at = { line: line + 1, seq: walk.link.seq + 1 }
      if (!each.isWhole) {
        isCut = true
        const torn = readIncompleteLine(each.bytes, MAX_LINE_BYTES)
        if ('fault' in torn) return { ...at, reason: `its line is incomplete, but not because of a crash: ${torn.fault}` }
        if (tries >= LAST_LINE_TRIES) return { ...at, reason: tornReason(torn) }
        break
      }
      const read = readLine(each.bytes, walk.link)
      // Report the number that the record claims, if it has one.
      if ('fault' in read) return { ...at, seq: parsed(each.text)?.seq ?? at.seq, reason: read.fault }
      const reason = checkRecord(read.record, number, line === 0, walk) ?? (await checkSetAside(folder, read.record))
      if (reason) return { ...at, reason }
      take(read.record, walk)
      line++
      offset = each.offset + each.bytes.length
    }
    if (!isCut) return undefined
    await sleep(LAST_LINE_WAIT_MS)
  }
}

function tornReason({ bytes, begun, isComplete }: IncompleteLine): string {
  const next = `the next start of a host ${isComplete ? 'keeps the record' : 'moves it to another file and records that'}`
  if (begun === 0) return `the file ends with zeros, as after a crash of the machine; ${next}`
  const zeros = begun < bytes.length ? ', and zeros follow it' : ''
  return `its line is incomplete${zeros}: it was cut off, or its process ended while writing; ${next}`
}

/**
 * Set-aside bytes must still exist and look like the result of a crash. Complete records among them were removed from the log, which no
 * crash does.
 */
async function checkSetAside(folder: string, record: AuditRecord): Promise<string | undefined> {
  if (record.kind !== 'recovered') return undefined
  const { file, digest, bytes } = record
  if (!TORN_NAME.test(file)) return 'it names a file that the log never writes'
  let kept: Buffer
  try {
    const { size } = await stat(join(folder, file))
    if (size !== bytes) return `${file}, which was set aside, has ${size} bytes and had ${bytes}`
    kept = await readFile(join(folder, file))
  } catch (error) {
    return `${file}, which was set aside, cannot be read (${codeOf(error)})`
  }
  if (sha256(kept).toString('hex') !== digest) return `${file}, which was set aside, was changed since`
  const torn = readIncompleteLine(kept, MAX_LINE_BYTES)
  if ('fault' in torn) return `${file}, which was set aside, does not come from a crash: ${torn.fault}`
  return torn.isComplete ? `${file}, which was set aside, is a whole record` : undefined
}

/** Checks a record with a valid hash, which a forger could still have computed. */
function checkRecord(record: AuditRecord, segment: number, isFirst: boolean, walk: Walk): string | undefined {
  const { unsigned, link, awaited, check, open } = walk
  const anchored = awaited.get(record.seq)
  if (anchored !== undefined && anchored !== record.hash) return 'a checkpoint stored elsewhere names a different record here'
  if ((record.kind === 'segment') !== isFirst) return 'a segment must have exactly one segment record, at its start'
  if (record.kind === 'segment' && (record.segment !== segment || record.previous !== link.hash)) return 'it belongs to another segment'
  if (record.kind === 'retired') {
    const fault = checkRetiredRecord(record, check)
    if (fault) return `it says that segments were retired, but ${fault}`
    const border = walk.borders.get(record.upToSegment + 1)
    const isSo = record.upToSegment < segment && (!border || (border.seq === record.upToSeq && border.hash === record.lastHash))
    return isSo ? undefined : 'it is about retired segments that are not those of this log'
  }
  // The intent may be in a segment that was retired.
  if (record.kind === 'outcome' && record.intent > walk.start.seq && !open.has(record.intent))
    return `it is the outcome of ${record.intent}, which is not an open intent`
  if (record.kind !== 'checkpoint') return undefined
  const { from, to, root, head } = record.checkpoint
  const fault = check(record.checkpoint)
  if (fault) return fault
  const isAboutThese = to === link.seq && head === link.hash && from === link.seq - unsigned.length + 1 && root === merkleRoot(unsigned)
  return isAboutThese ? undefined : 'it is a checkpoint of other records'
}

function take(record: AuditRecord, walk: Walk): void {
  walk.link = { seq: record.seq, hash: record.hash }
  if (record.kind === 'intent') walk.open.add(record.seq)
  if (record.kind === 'outcome') walk.open.delete(record.intent)
  if (record.kind === 'recovered') walk.recovered++
  if (record.kind === 'retired') walk.retired.push(record)
  if (walk.open.size > MAX_UNMATCHED)
    throw new McpError('ERR_AUDIT', `More than ${MAX_UNMATCHED} intents have no outcome: a host did not write this log`)
  if (record.kind !== 'checkpoint') return void walk.unsigned.push(record.hash)
  walk.unsigned = []
  walk.signedUpTo = record.checkpoint.to
}

const verdict = ({ link, start, open, recovered, signedUpTo }: Walk, bad: BadRecord | undefined): AuditVerdict => ({
  ok: bad === undefined,
  records: link.seq - start.seq,
  retired: start.seq,
  unmatchedIntents: [...open],
  recovered,
  signedUpTo,
  firstBad: bad,
})
