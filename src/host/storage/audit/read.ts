/** Streams the records of a log of any size. Does not check whether they are genuine: verify.ts does. */

import { McpError } from '../../../protocol/errors.ts'
import type { ActionKind, Effect } from '../../model/action.ts'
import type { AuditRecord, KeptEntry, RecordBody } from '../../model/audit-record.ts'
import { parsed } from './chain.ts'
import { readIncompleteLine } from './incomplete-line.ts'
import { linesOf, openSegment, segmentName, segmentsIn } from './segments.ts'

/** All given conditions must hold. An outcome passes together with its intent, if the intent was read. */
export interface AuditFilter {
  kinds?: readonly RecordBody['kind'][]
  action?: ActionKind
  server?: string
  principal?: string
  run?: string
  effect?: Effect
  /** Record numbers and times, both ends included. Times are milliseconds since 1970. */
  fromSeq?: number
  since?: number
  until?: number
}

const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * Streams the records of a log that match the filter. Does not check whether they are genuine: `verifyAudit` does.
 *
 * @example
 * for await (const record of readAudit(folder)) console.log(record.seq, record.kind)
 */
export async function* readAudit(folder: string, filter: AuditFilter = {}): AsyncGenerator<AuditRecord, void, undefined> {
  const passes = passing(filter)
  for (const number of await segmentsIn(folder)) yield* readSegment(folder, number, passes)
}

async function* readSegment(
  folder: string,
  number: number,
  passes: (record: AuditRecord) => boolean,
): AsyncGenerator<AuditRecord, void, undefined> {
  const handle = await openSegment(folder, number, 'read')
  try {
    let line = 0
    for await (const { text, isWhole, bytes } of linesOf(handle, 0, MAX_LINE_BYTES)) {
      line++
      const where = `Line ${line} of ${segmentName(number)} in ${folder}`
      if (!isWhole) {
        // A valid torn line is still being written, or a crash left it. Any other incomplete line may hide records.
        const torn = readIncompleteLine(bytes, MAX_LINE_BYTES)
        if ('fault' in torn) throw new McpError('ERR_AUDIT', `${where} is damaged: ${torn.fault}`)
        break
      }
      const record = parsed(text)
      if (!record) throw new McpError('ERR_AUDIT', `${where} is not a record`)
      if (passes(record)) yield record
    }
  } finally {
    await handle.close()
  }
}

/** A part of a log, newest first. */
export interface AuditRecords {
  records: AuditRecord[]
  /** Give it as `before` for the next part. Undefined: there are no older records. */
  next?: number
}

/** Which part of a log to read. */
export interface AuditPageOptions extends AuditFilter {
  /** Only records with a smaller number. Default: the newest ones. */
  before?: number
  /** The most records to return. */
  limit: number
  /** A further condition. Default: all records. */
  isWanted?(record: AuditRecord): boolean
  /** Ends reading. */
  signal?: AbortSignal
}

/**
 * Reads the newest records that match, without reading the whole log. Does not check whether they are genuine.
 *
 * @example
 * const { records, next } = await readAuditPage(folder, { limit: 100, server: 'notes' })
 */
export async function readAuditPage(folder: string, options: AuditPageOptions): Promise<AuditRecords> {
  const { before = Number.POSITIVE_INFINITY, limit, isWanted = () => true, signal, ...filter } = options
  const found: AuditRecord[] = []
  for (const number of (await segmentsIn(folder)).reverse()) {
    const passes = passing(filter)
    const own: AuditRecord[] = []
    for await (const record of readSegment(folder, number, passes)) {
      signal?.throwIfAborted()
      if (record.seq >= before) break
      if (!isWanted(record)) continue
      own.push(record)
      // One more than needed shows that there are older records.
      if (own.length > 2 * (limit + 1)) own.splice(0, own.length - (limit + 1))
    }
    found.push(...own.reverse())
    if (found.length > limit) break
  }
  const records = found.slice(0, limit)
  const oldest = records.at(-1)
  return { records, ...(found.length > limit && oldest && { next: oldest.seq }) }
}

function passing({ kinds, fromSeq, since, until, ...ofEntry }: AuditFilter): (record: AuditRecord) => boolean {
  const wanted = Object.entries(ofEntry).filter(([, value]) => value !== undefined)
  /** Intents without an outcome so far: at most as many as ran at the same time. */
  const passed = new Set<number>()
  const isAbout = (record: AuditRecord): boolean => {
    if (wanted.length === 0) return true
    if (record.kind === 'outcome') return passed.delete(record.intent)
    if (record.kind !== 'intent' && record.kind !== 'refusal') return false
    const isWanted = wanted.every(([name, value]) => record.entry[name as keyof KeptEntry] === value)
    if (isWanted && record.kind === 'intent') passed.add(record.seq)
    return isWanted
  }
  return (record) => {
    if (!isAbout(record)) return false
    if (kinds && !kinds.includes(record.kind)) return false
    if (fromSeq !== undefined && record.seq < fromSeq) return false
    return (since === undefined || record.at >= since) && (until === undefined || record.at <= until)
  }
}
