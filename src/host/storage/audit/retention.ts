/**
 * Retires closed segments of a log that are too old or too many: archives or removes them. A signed record of the log says which ones,
 * so that a segment which disappears in another way is found.
 */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { asText } from '../../../base/as-text.ts'
import { codeOf, privateFolder, readPrivate, removePrivate, writePrivate } from '../../../files/private-file.ts'
import { checkMembers, type Members } from '../../../protocol/check-members.ts'
import { McpError } from '../../../protocol/errors.ts'
import type { RecordBody } from '../../model/audit-record.ts'
import { type Link, parsed } from './chain.ts'
import { linesOf, openSegment, PUBLIC_KEY_FILE, segmentName, segmentsIn } from './segments.ts'
import type { LogKey } from './signing.ts'

/** How long the audit log is kept. Without an age and a size it is kept for ever. */
export interface AuditRetention {
  /** Segments whose newest record is older than this are retired. A segment then ends after one day. At least one day. */
  maxAgeMs?: number
  /** The oldest segments are retired while the log has more bytes than this. The segment in use always stays. At least 16 MiB, the size of a segment. */
  maxBytes?: number
  /** Retired segments are moved to this folder, best on another disk. Default: they are removed. */
  archive?: string
}

/** The segments to retire: all up to this one. */
export interface Retired {
  segments: readonly number[]
  upToSegment: number
  /** The last record of that segment. */
  last: Link
}

const DAY_MS = 24 * 60 * 60_000
const MAX_LINE_BYTES = 16 * 1024 * 1024
/** Larger than any segment, and than any file that was set aside. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/** How long a segment is written to. Only closed segments can be retired. */
export const segmentMs = ({ maxAgeMs }: AuditRetention): number => (maxAgeMs === undefined ? Number.POSITIVE_INFINITY : DAY_MS)

const MEMBERS: Members<AuditRetention> = { maxAgeMs: 1, maxBytes: 1, archive: 1 }

/**
 * @param folder of the log
 * @param segmentBytes the size of a segment
 * @throws McpError ERR_DEFINITION for values that would retire everything, or nothing, by mistake; ERR_STORE for an archive that cannot be
 *   used, because retiring begins perhaps months later
 */
export async function checkRetention(retention: AuditRetention | undefined, folder: string, segmentBytes: number): Promise<void> {
  if (!retention) return
  checkMembers('auditRetention', retention, MEMBERS)
  for (const name of ['maxAgeMs', 'maxBytes'] as const) {
    const value = retention[name]
    if (value !== undefined && !(value > 0)) throw new McpError('ERR_DEFINITION', `${name} of the audit log must be above 0, not ${value}`)
  }
  const { maxAgeMs, maxBytes, archive } = retention
  if (maxAgeMs === undefined && maxBytes === undefined)
    throw new McpError('ERR_DEFINITION', 'auditRetention needs maxAgeMs or maxBytes; leave it out to keep everything')
  if (archive !== undefined && resolve(archive) === resolve(folder))
    throw new McpError('ERR_DEFINITION', 'archive must be another folder than that of the audit log')
  // A wrong unit would remove a log that somebody needs.
  if (maxAgeMs !== undefined && maxAgeMs < DAY_MS)
    throw new McpError('ERR_DEFINITION', `maxAgeMs of the audit log must be at least ${DAY_MS} (a day), not ${maxAgeMs}`)
  if (maxBytes !== undefined && maxBytes < segmentBytes)
    throw new McpError('ERR_DEFINITION', `maxBytes of the audit log must be at least ${segmentBytes} (a segment), not ${maxBytes}`)
  if (archive === undefined) return
  try {
    await privateFolder(archive)
    await access(archive, constants.W_OK)
  } catch (error) {
    const why = error instanceof McpError ? error.message : `${archive} cannot be written (${codeOf(error) ?? asText(error)})`
    throw new McpError('ERR_STORE', `The archive of the audit log: ${why}`, { cause: error })
  }
}

/** Chooses the segments to retire. Call it while holding the lock. */
export async function chooseRetired(folder: string, current: number, retention: AuditRetention, now: number): Promise<Retired | undefined> {
  const { maxAgeMs = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = retention
  const segments = (await segmentsIn(folder)).filter((number) => number <= current)
  const starts = await Promise.all(segments.map((number) => startOf(folder, number)))
  let bytes = starts.reduce((sum, { size }) => sum + size, 0)
  let count = 0
  for (; count < segments.length - 1; count++) {
    if (bytes <= maxBytes && now - (await newestIn(folder, segments[count] as number)) < maxAgeMs) break
    bytes -= starts[count]?.size ?? 0
  }
  const next = starts[count]
  if (count === 0 || !next) return undefined
  const retired = segments.slice(0, count)
  return { segments: retired, upToSegment: retired.at(-1) as number, last: next.before }
}

/** The record has a signature of its own: it is true wherever it is in the log, and only the key can make it. */
export const retiredBody = ({ upToSegment, last }: Retired, retention: AuditRetention, key: LogKey): RecordBody =>
  key.sign({
    kind: 'retired' as const,
    upToSegment,
    upToSeq: last.seq,
    lastHash: last.hash,
    isArchived: retention.archive !== undefined,
  })

/** Copies segments, and what was set aside from them, so that the archive can be verified on its own. */
export async function archiveSegments(folder: string, archive: string, segments: readonly number[]): Promise<void> {
  await privateFolder(archive)
  const files = [PUBLIC_KEY_FILE, ...segments.map(segmentName), ...(await setAsideIn(folder, segments))]
  for (const file of files) {
    const bytes = await readPrivate(join(folder, file), MAX_FILE_BYTES)
    if (bytes) await writePrivate(join(archive, file), bytes)
  }
}

/** Removes the oldest first: after a crash in between, the rest of the log has no gap. */
export async function removeSegments(folder: string, segments: readonly number[]): Promise<void> {
  const setAside = await setAsideIn(folder, segments)
  for (const number of segments) await removePrivate(join(folder, segmentName(number)))
  for (const file of setAside) await removePrivate(join(folder, file))
}

/** The link before the first record of a segment, and the size of the file. */
export async function startOf(folder: string, number: number): Promise<{ before: Link; size: number }> {
  const handle = await openSegment(folder, number, 'read')
  try {
    const { size } = await handle.stat()
    for await (const { text, isWhole } of linesOf(handle, 0, MAX_LINE_BYTES)) {
      const header = isWhole ? parsed(text) : undefined
      if (header?.kind === 'segment') return { before: { seq: header.seq - 1, hash: header.previous }, size }
      break
    }
  } finally {
    await handle.close()
  }
  throw new McpError('ERR_AUDIT', `${segmentName(number)} in ${folder} does not begin with a link to the segment before it`)
}

/** More than a record can have. */
const LAST_BYTES = 1024 * 1024

/** When the newest record of a segment was written. A signature that followed later does not count. */
async function newestIn(folder: string, number: number): Promise<number> {
  const handle = await openSegment(folder, number, 'read')
  try {
    const { size } = await handle.stat()
    let newest = 0
    // The first line may be the rest of a record, which is not read as one.
    for await (const { text } of linesOf(handle, Math.max(0, size - LAST_BYTES), MAX_LINE_BYTES)) {
      const record = parsed(text)
      if (record && (record.kind !== 'checkpoint' || newest === 0)) newest = record.at
    }
    return newest
  } finally {
    await handle.close()
  }
}

/** The files that these segments say were set aside after a crash. */
async function setAsideIn(folder: string, segments: readonly number[]): Promise<string[]> {
  const files: string[] = []
  for (const number of segments) {
    const handle = await openSegment(folder, number, 'read')
    try {
      for await (const { text } of linesOf(handle, 0, MAX_LINE_BYTES)) {
        const record = text.includes('"kind":"recovered"') ? parsed(text) : undefined
        if (record?.kind === 'recovered' && TORN_NAME.test(record.file)) files.push(record.file)
      }
    } finally {
      await handle.close()
    }
  }
  return files
}

/** The names of files that the log sets aside. */
export const TORN_NAME = /^torn-audit-\d{6,}\.jsonl-\d+-[0-9a-f]{16}$/
