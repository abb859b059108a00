/** Reads a log, one record after another, whatever its size. Whether it is what was written is for verify.ts to say. */

import { McpError } from '../../../protocol/errors.ts'
import type { ActionKind, Effect } from '../../model/action.ts'
import type { AuditRecord, KeptEntry, RecordBody } from '../../model/audit-record.ts'
import { parsed } from './chain.ts'
import { linesOf, openSegment, segmentName, segmentsIn } from './segments.ts'
import { readTorn } from './torn.ts'

/** All that are given must hold. An outcome passes with what it is the outcome of, as far as that was read. */
export interface AuditFilter {
  kinds?: readonly RecordBody['kind'][]
  action?: ActionKind
  server?: string
  principal?: string
  run?: string
  effect?: Effect
  /** Numbers and times, both ends included; times in milliseconds of the wall clock. */
  fromSeq?: number
  since?: number
  until?: number
}

const MAX_LINE_BYTES = 16 * 1024 * 1024

/** The records of a log that fit the filter, one after the other. Whether they are genuine is for `verifyAudit` to say. */
export async function* readAudit(folder: string, filter: AuditFilter = {}): AsyncGenerator<AuditRecord, void, undefined> {
  const passes = passing(filter)
  for (const number of await segmentsIn(folder)) {
    const handle = await openSegment(folder, number, 'read')
    try {
      let line = 0
      for await (const { text, isWhole, bytes } of linesOf(handle, 0, MAX_LINE_BYTES)) {
        line++
        const where = `Line ${line} of ${segmentName(number)} in ${folder}`
        if (!isWhole) {
          // Being written, or left by a crash; otherwise there are records in it that nobody would see.
          const torn = readTorn(bytes, MAX_LINE_BYTES)
          if ('fault' in torn) throw new McpError('ERR_AUDIT', `${where} was not left by a crash: ${torn.fault}`)
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
}

function passing({ kinds, fromSeq, since, until, ...ofEntry }: AuditFilter): (record: AuditRecord) => boolean {
  const wanted = Object.entries(ofEntry).filter(([, value]) => value !== undefined)
  /** Those whose outcome is awaited: as many as were under way at once. */
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
