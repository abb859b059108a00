/** Whether a log is what was written, and if not, which is the first record that is not. */

import type { FileHandle } from 'node:fs/promises'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPlainText } from '../../../files/plain-file.ts'
import { codeOf } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { AuditRecord, Checkpoint } from '../../model/audit-record.ts'
import { readAnchors } from './anchor.ts'
import { BEGINNING, type Link, merkleRoot, parsed, readLine, sha256 } from './chain.ts'
import { linesOf, openSegment, PUBLIC_KEY_FILE, segmentName, segmentsIn } from './segments.ts'
import { type CheckSignature, signatureCheck } from './signing.ts'
import { readTorn, type Torn } from './torn.ts'

export interface VerifyOptions {
  /** PEM, from where it was kept. Without it the one in the folder is used, which whoever wrote the log anew has replaced as well. */
  publicKey?: string
  /** Checkpoints from their second place, or the file with them. */
  anchors?: readonly Checkpoint[] | string
}

export interface AuditVerdict {
  ok: boolean
  /** Whole records before the first bad one; all of them when there is none. */
  records: number
  /** Actions that were begun and of which nothing is known since: a crash, or a record that is missing. */
  unmatchedIntents: readonly number[]
  /** How often the beginning of a record was set aside after a crash. */
  recovered: number
  /** The last record that a good signature covers. */
  signedUpTo: number
  firstBad: BadRecord | undefined
}

export interface BadRecord {
  /** The name of the file. */
  segment: string
  /** The number that the record has, or that should be there. */
  seq: number
  /** In the file, from 1; 0 when there is none. */
  line: number
  reason: string
}

/** Far above what is ever under way at once. */
const MAX_UNMATCHED = 100_000
const MAX_LINE_BYTES = 16 * 1024 * 1024
/** Somebody may be writing the last line while it is read. */
const LAST_LINE_TRIES = 5
const LAST_LINE_WAIT_MS = 50

interface Walk {
  check: CheckSignature
  link: Link
  unsigned: string[]
  open: Set<number>
  recovered: number
  signedUpTo: number
  /** Hashes that anchors speak of, by number. */
  awaited: Map<number, string>
  /** The last record there must be: the newest checkpoint given. */
  reaches: number
}

/**
 * Goes through the whole log, and tells the first record that is not what was written. That whole records were cut off at the end
 * is found only with `anchors` of later records.
 */
export async function verifyAudit(folder: string, { publicKey, anchors }: VerifyOptions = {}): Promise<AuditVerdict> {
  const check = signatureCheck(publicKey ?? (await keptPublicKey(folder)))
  const given = typeof anchors === 'string' ? await readAnchors(anchors) : (anchors ?? [])
  const walk: Walk = {
    check,
    link: { seq: 0, hash: BEGINNING },
    unsigned: [],
    open: new Set(),
    recovered: 0,
    signedUpTo: 0,
    awaited: new Map(given.map(({ to, head }) => [to, head])),
    reaches: given.reduce((most, { to }) => Math.max(most, to + 1), 0),
  }
  const forged = given.find((anchor) => check(anchor) !== undefined)
  if (forged) throw new McpError('ERR_AUDIT', `The checkpoint given for record ${forged.to} is no good: ${check(forged)}`)
  return verdict(walk, await firstBad(folder, walk))
}

/** Many times what a public key takes. */
const MAX_KEY_BYTES = 64 * 1024

async function keptPublicKey(folder: string): Promise<string> {
  try {
    return await readPlainText(join(folder, PUBLIC_KEY_FILE), MAX_KEY_BYTES)
  } catch (error) {
    throw new McpError('ERR_AUDIT', `There is no audit log in ${folder}: it has no ${PUBLIC_KEY_FILE} (${codeOf(error)})`, { cause: error })
  }
}

async function firstBad(folder: string, walk: Walk): Promise<BadRecord | undefined> {
  const segments = await segmentsIn(folder)
  for (const [at, number] of segments.entries()) {
    const segment = segmentName(number)
    if (number !== at + 1)
      return { segment, seq: walk.link.seq + 1, line: 1, reason: `${segmentName(at + 1)}, which comes before it, is missing` }
    const handle = await openSegment(folder, number, 'read')
    try {
      const bad = await badIn(folder, handle, number, walk)
      if (bad) return { segment, ...bad }
    } finally {
      await handle.close()
    }
  }
  // Whoever opens a log writes its first record at once.
  if (walk.link.seq === 0 && walk.reaches === 0)
    return {
      segment: segmentName(1),
      seq: 1,
      line: 0,
      reason: 'the log has a key, so it was begun, and no record is left of it: its files were removed or emptied',
    }
  if (walk.link.seq >= walk.reaches) return undefined
  const reason = `the log ends before it, and a checkpoint kept elsewhere says that there were ${walk.reaches} records`
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
        const torn = readTorn(each.bytes, MAX_LINE_BYTES)
        if ('fault' in torn) return { ...at, reason: `its line has no end, and was not left by a crash: ${torn.fault}` }
        if (tries >= LAST_LINE_TRIES) return { ...at, reason: tornReason(torn) }
        break
      }
      const read = readLine(each.bytes, walk.link)
      // The number that it claims, when it stands in the place of another.
      if ('fault' in read) return { ...at, seq: parsed(each.text)?.seq ?? at.seq, reason: read.fault }
      const reason = faultOf(read.record, number, line === 0, walk) ?? (await setAsideFault(folder, read.record))
      if (reason) return { ...at, reason }
      take(read.record, walk)
      line++
      offset = each.offset + each.bytes.length
    }
    if (!isCut) return undefined
    await sleep(LAST_LINE_WAIT_MS)
  }
}

function tornReason({ bytes, begun, isClosed }: Torn): string {
  const next = `the next start of a host ${isClosed ? 'keeps the record' : 'sets this aside, and writes down that it did'}`
  if (begun === 0) return `zeros stand at the end of the file, as after a crash of the machine; ${next}`
  const zeros = begun < bytes.length ? ', and zeros follow it' : ''
  return `its line is not whole${zeros}: it was cut, or the process that wrote it ended before it could; ${next}`
}

/** What was set aside must still be there, and must be what a crash leaves: whole records in it were taken out of the log. */
async function setAsideFault(folder: string, record: AuditRecord): Promise<string | undefined> {
  if (record.kind !== 'recovered') return undefined
  const { file, digest, bytes } = record
  if (!TORN_NAME.test(file)) return 'it names no file that the log writes'
  let kept: Buffer
  try {
    const { size } = await stat(join(folder, file))
    if (size !== bytes) return `${file}, which was set aside, has ${size} bytes and had ${bytes}`
    kept = await readFile(join(folder, file))
  } catch (error) {
    return `${file}, which was set aside, cannot be read (${codeOf(error)})`
  }
  if (sha256(kept).toString('hex') !== digest) return `${file}, which was set aside, was changed since`
  const torn = readTorn(kept, MAX_LINE_BYTES)
  if ('fault' in torn) return `${file}, which was set aside, was not left by a crash: ${torn.fault}`
  return torn.isClosed ? `${file}, which was set aside, is a whole record` : undefined
}

const TORN_NAME = /^torn-audit-\d{6,}\.jsonl-\d+-[0-9a-f]{16}$/

/** What is wrong with a record that fits into the chain, and that somebody who can compute hashes could still have written. */
function faultOf(record: AuditRecord, segment: number, isFirst: boolean, walk: Walk): string | undefined {
  const { unsigned, link, awaited, check, open } = walk
  const anchored = awaited.get(record.seq)
  if (anchored !== undefined && anchored !== record.hash) return 'a checkpoint kept elsewhere says that another record was here'
  if ((record.kind === 'segment') !== isFirst) return 'a segment begins with what it follows, and says it once'
  if (record.kind === 'segment' && (record.segment !== segment || record.previous !== link.hash)) return 'it belongs to another segment'
  if (record.kind === 'outcome' && !open.has(record.intent))
    return `it tells what became of ${record.intent}, which is not an intent that is open`
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
  if (walk.open.size > MAX_UNMATCHED)
    throw new McpError('ERR_AUDIT', `More than ${MAX_UNMATCHED} intents have no outcome; this is no log of a host`)
  if (record.kind !== 'checkpoint') return void walk.unsigned.push(record.hash)
  walk.unsigned = []
  walk.signedUpTo = record.checkpoint.to
}

const verdict = ({ link, open, recovered, signedUpTo }: Walk, bad: BadRecord | undefined): AuditVerdict => ({
  ok: bad === undefined,
  records: link.seq,
  unmatchedIntents: [...open],
  recovered,
  signedUpTo,
  firstBad: bad,
})
