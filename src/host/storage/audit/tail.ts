/** Finds the end of a log, where the next record goes, and follows it when other processes write. */

import type { FileHandle } from 'node:fs/promises'
import { McpError } from '../../../protocol/errors.ts'
import { BEGINNING, type Link, parsed, readLine } from './chain.ts'
import { type IncompleteLine, type ReadIncompleteLine, readIncompleteLine } from './incomplete-line.ts'
import { linesOf, openSegment, segmentName, segmentsIn } from './segments.ts'
import { type CheckSignature, checkRetiredRecord } from './signing.ts'

export interface Tail {
  /** 0 if there is no segment yet. */
  segment: number
  /** The size of the segment, where the next line goes. */
  size: number
  link: Link
  /** When the segment began, in milliseconds since 1970. */
  begunAt: number
  /** Hashes of the records without a checkpoint. */
  unsigned: readonly string[]
}

const NOTHING: Tail = { segment: 0, size: 0, link: { seq: 0, hash: BEGINNING }, begunAt: 0, unsigned: [] }

/**
 * Finds the current end of the log from its last known end. Call it while holding the lock. Every line on the way is checked, because
 * appending to a damaged log would confirm the damage with a valid signature.
 */
export async function followTail(
  folder: string,
  known: Tail | undefined,
  maxLineBytes: number,
  check: CheckSignature,
): Promise<{ tail: Tail; torn: IncompleteLine | undefined }> {
  const segments = await segmentsIn(folder)
  const last = segments.at(-1) ?? 0
  if (known && last < known.segment) throw broken(folder, `${segmentName(known.segment)} is missing`)
  const first = segments[0] ?? 1
  const isRetired = known !== undefined && segments.length > 0 && first > known.segment
  if (first > 1 && (!known || isRetired)) await checkRetired(folder, segments, known, maxLineBytes, check)
  let tail = known && !isRetired ? known : await startOf(folder, segments, maxLineBytes)
  let torn: IncompleteLine | undefined
  for (let number = Math.max(tail.segment, 1); number <= last; number++) {
    if (number > tail.segment) tail = { ...tail, segment: number, size: 0 }
    const handle = await openSegment(folder, number, 'read')
    try {
      ;({ tail, torn } = await readOn(handle, folder, tail, maxLineBytes, check))
    } finally {
      await handle.close()
    }
    if (torn && number < last) throw broken(folder, `the last line of ${segmentName(number)} is incomplete, but more segments follow`)
  }
  return { tail, torn }
}

/**
 * The oldest segments are missing. A record with a valid signature must say that they were retired: otherwise the next checkpoint would
 * sign their loss. The newest segments have that record, so they are read first.
 */
async function checkRetired(
  folder: string,
  segments: readonly number[],
  known: Tail | undefined,
  maxLineBytes: number,
  check: CheckSignature,
): Promise<void> {
  const missing = (segments[0] as number) - 1
  for (const number of segments.toReversed()) {
    const handle = await openSegment(folder, number, 'read')
    try {
      for await (const { text } of linesOf(handle, 0, maxLineBytes)) {
        const record = text.includes('"kind":"retired"') ? parsed(text) : undefined
        if (record?.kind !== 'retired' || checkRetiredRecord(record, check) !== undefined) continue
        if (record.upToSegment >= missing && record.upToSeq >= (known?.link.seq ?? 0)) return
      }
    } finally {
      await handle.close()
    }
  }
  throw broken(folder, `${segmentName(missing)} is missing, and no signed record says that it was retired`)
}

/** Each segment begins with a link to the one before, so the last one is enough, unless it is still empty. */
async function startOf(folder: string, segments: readonly number[], maxLineBytes: number): Promise<Tail> {
  for (const number of segments.slice(-2).reverse()) {
    const handle = await openSegment(folder, number, 'read')
    try {
      for await (const { text, isWhole } of linesOf(handle, 0, maxLineBytes)) {
        const header = isWhole ? parsed(text) : undefined
        if (header?.kind === 'segment')
          return { segment: number, size: 0, link: { seq: header.seq - 1, hash: header.previous }, begunAt: header.at, unsigned: [] }
        if (isWhole) throw broken(folder, `${segmentName(number)} does not begin with a link to the segment before it`)
        break
      }
    } finally {
      await handle.close()
    }
  }
  return NOTHING
}

async function readOn(
  handle: FileHandle,
  folder: string,
  from: Tail,
  maxLineBytes: number,
  check: CheckSignature,
): Promise<{ tail: Tail; torn: IncompleteLine | undefined }> {
  const { size } = await handle.stat()
  const name = segmentName(from.segment)
  if (size < from.size) throw broken(folder, `${name} has become shorter: records are missing`)
  if (size === from.size) return { tail: from, torn: undefined }
  let { link } = from
  let end = from.size
  let unsigned = [...from.unsigned]
  let { begunAt } = from
  for await (const line of linesOf(handle, from.size, maxLineBytes)) {
    if (!line.isWhole) {
      const torn = await tornAt(handle, line.offset, size, maxLineBytes)
      const where = `the text after record ${link.seq} in ${name} does not come from a crash`
      if ('fault' in torn) throw broken(folder, `${where}: ${torn.fault}`)
      if (torn.isComplete) {
        const read = readLine(Buffer.concat([torn.bytes.subarray(0, torn.begun), NEWLINE]), link)
        if ('fault' in read) throw broken(folder, `${where}: ${read.fault}`)
      }
      return { tail: { segment: from.segment, size: end, link, begunAt, unsigned }, torn }
    }
    const read = readLine(line.bytes, link)
    if ('fault' in read) throw broken(folder, `record ${link.seq + 1} in ${name} was changed: ${read.fault}`)
    const forged = read.record.kind === 'retired' ? checkRetiredRecord(read.record, check) : undefined
    if (forged) throw broken(folder, `record ${read.record.seq} in ${name} says that segments were retired, but ${forged}`)
    const { seq, hash, kind, at } = read.record
    if (kind === 'segment') begunAt = at
    link = { seq, hash }
    end = line.offset + line.bytes.length
    if (kind === 'checkpoint') unsigned = []
    else unsigned.push(hash)
  }
  return { tail: { segment: from.segment, size: end, link, begunAt, unsigned }, torn: undefined }
}

/** The largest torn end that is read. It is larger than any segment, so the log cannot have written more. */
const MAX_TORN_BYTES = 64 * 1024 * 1024

async function tornAt(handle: FileHandle, offset: number, size: number, maxLineBytes: number): Promise<ReadIncompleteLine> {
  if (size - offset > MAX_TORN_BYTES) return { fault: `it has ${size - offset} bytes, more than the log can have written` }
  const bytes = Buffer.alloc(size - offset)
  await handle.read(bytes, 0, bytes.length, offset)
  return readIncompleteLine(bytes, maxLineBytes)
}

const NEWLINE = Buffer.of(0x0a)

const broken = (folder: string, what: string): McpError =>
  new McpError('ERR_AUDIT', `The audit log in ${folder} is damaged: ${what}. Keep the folder for an investigation, and use another one`)
