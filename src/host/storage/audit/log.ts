/**
 * Writes the audit log. All processes of a user append to one chain: each takes the lock of the folder, reads the new records of other
 * processes, and writes all pending records with one fsync.
 */

import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asText } from '../../../base/as-text.ts'
import { type LockLimits, withLockFile } from '../../../files/lock-file.ts'
import { codeOf, privateFolder, readPrivate, writePrivate } from '../../../files/private-file.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { AuditEntry, AuditIntent, AuditLog, KeptEntry, Outcome, RecordBody } from '../../model/audit-record.ts'
import { type AnchorSink, anchoring } from './anchor.ts'
import { merkleRoot, sha256 } from './chain.ts'
import type { IncompleteLine } from './incomplete-line.ts'
import { PendingRecords } from './pending-records.ts'
import { type AuditRetention, archiveSegments, checkRetention, chooseRetired, removeSegments, retiredBody, segmentMs } from './retention.ts'
import { KEY_FILE, LOCK_FILE, openSegment, PUBLIC_KEY_FILE, segmentName } from './segments.ts'
import { type LogKey, openKey } from './signing.ts'
import { DEFAULT_ENTRY_LIMITS, type EntryLimits, type Keeping, keeping, type Scrub } from './storable-entry.ts'
import { followTail, type Tail } from './tail.ts'

/** The limits of the log. They suit every log, so they are not options of a host. Tests make them small. */
export interface AuditLogLimits extends EntryLimits, LockLimits {
  /** The size at which the next segment begins. */
  segmentBytes: number
  /** Maximum size of one record. */
  recordBytes: number
  /** A checkpoint is written after this many records, or after `checkpointMs`. */
  checkpointRecords: number
  checkpointMs: number
  /** Maximum number of records waiting for the disk. */
  pendingRecords: number
}

export const DEFAULT_AUDIT_LIMITS: AuditLogLimits = {
  ...DEFAULT_ENTRY_LIMITS,
  segmentBytes: 16 * 1024 * 1024,
  recordBytes: 256 * 1024,
  checkpointRecords: 256,
  checkpointMs: 60_000,
  pendingRecords: 10_000,
  // Longer than it takes to detect that the holder is gone.
  lockTimeoutMs: 15_000,
}

export interface AuditLogOptions {
  /** The folder of the log. It must be used by nothing else, and readable by its owner only. */
  folder: string
  /** The file of the signing key. Default: in the folder. In another place, write access to the folder does not allow signing. */
  keyFile?: string
  /** A second location for checkpoints: a file or a function. Without it, cutting off the end of the log cannot be detected. */
  anchor?: AnchorSink
  /** Removes registered secrets from everything that is written. */
  scrub?: Scrub
  onWarning?(text: string): void
  /** Default: everything is kept. */
  retention?: AuditRetention | undefined
  limits?: Partial<AuditLogLimits>
}

export interface WritableAuditLog extends AuditLog {
  /** The public key in PEM. A copy elsewhere reveals a log that was rewritten with another key. */
  readonly publicKey: string
  /**
   * An intent of this log whose action went on after its process ended.
   * @param seq the number of the intent
   */
  resumed(seq: number): AuditIntent
  /** Writes a checkpoint for all records that have none yet. */
  checkpoint(): Promise<void>
}

export async function openAuditLog(options: AuditLogOptions): Promise<WritableAuditLog> {
  const { folder, keyFile, anchor, scrub, onWarning, limits, retention } = options
  const all = withDefaults(DEFAULT_AUDIT_LIMITS, limits)
  await checkRetention(retention, folder, all.segmentBytes)
  return orErrAudit(folder, async () => {
    await privateFolder(folder)
    const key = await withLockFile(join(folder, LOCK_FILE), all, async () => {
      const publicKeyFile = join(folder, PUBLIC_KEY_FILE)
      const begunWith = await readPrivate(publicKeyFile, 64 * 1024)
      const opened = await openKey(keyFile ?? join(folder, KEY_FILE), begunWith && Buffer.from(begunWith).toString('utf8'))
      if (!begunWith) await writePrivate(publicKeyFile, Buffer.from(opened.publicKey))
      return opened
    })
    const kept = keeping(key.salt, scrub ?? ((text) => text), all)
    const log = new Log(folder, key, kept, anchoring(anchor, onWarning), all, retention, onWarning ?? (() => {}))
    // Repair after a crash and refuse a damaged log when opening, not at the first record.
    await log.settle()
    return log
  })
}

/** A record that waits for the disk. A checkpoint request becomes a checkpoint if there are unsigned records. */
interface Waiting {
  body: RecordBody | 'checkpoint'
  resolve(seq: number): void
  reject(error: unknown): void
}

const BATCH_RECORDS = 1_000
/** For this long after another process has written, this process waits `ROOM_MS` between its writes, so that both get the lock. */
const SHARING_MS = 1_000
const ROOM_MS = 3

class Log implements WritableAuditLog {
  readonly publicKey: string
  readonly #folder: string
  readonly #key: LogKey
  readonly #keeping: Keeping
  readonly #anchors: ReturnType<typeof anchoring>
  readonly #limits: AuditLogLimits
  readonly #state = {
    waiting: [] as Waiting[],
    /** The last known end of the log. Remembered, so that a loss of records is detected. */
    tail: undefined as Tail | undefined,
    /** Set-aside bytes that are not recorded in the log yet. */
    recovered: undefined as RecordBody | undefined,
    writing: undefined as Promise<void> | undefined,
    file: undefined as { handle: FileHandle; segment: number } | undefined,
    timer: undefined as NodeJS.Timeout | undefined,
    othersWroteAt: Number.NEGATIVE_INFINITY,
    /** Whether segments may have to be retired: after the start, and after each new segment. */
    mayRetire: true,
    isClosed: false,
  }

  readonly #retention: AuditRetention | undefined
  readonly #onWarning: (text: string) => void

  constructor(
    folder: string,
    key: LogKey,
    kept: Keeping,
    anchors: ReturnType<typeof anchoring>,
    limits: AuditLogLimits,
    retention: AuditRetention | undefined,
    onWarning: (text: string) => void,
  ) {
    this.#retention = retention
    this.#onWarning = onWarning
    this.#folder = folder
    this.#key = key
    this.publicKey = key.publicKey
    this.#keeping = kept
    this.#anchors = anchors
    this.#limits = limits
  }

  async intent(entry: AuditEntry): Promise<AuditIntent> {
    return this.resumed(await this.#append({ kind: 'intent', entry: await this.#kept(entry) }))
  }

  resumed(seq: number): AuditIntent {
    let isTold = false
    return {
      seq,
      outcome: async (outcome: Outcome) => {
        if (isTold) throw new McpError('ERR_AUDIT', `The outcome of intent ${seq} was already written`)
        isTold = true
        try {
          await this.#append({ kind: 'outcome', intent: seq, outcome: this.#keeping.outcome(outcome) })
        } catch (error) {
          // The caller may retry when the disk has space again.
          isTold = false
          throw error
        }
      },
    }
  }

  async refusal(entry: AuditEntry): Promise<void> {
    await this.#append({ kind: 'refusal', entry: await this.#kept(entry) })
  }

  async checkpoint(): Promise<void> {
    await this.#append('checkpoint')
  }

  settle(): Promise<void> {
    return this.#inTurn(() => this.#write([]))
  }

  async close(): Promise<void> {
    const state = this.#state
    if (state.isClosed) return
    clearTimeout(state.timer)
    try {
      const last = this.#append('checkpoint')
      state.isClosed = true
      await last
    } finally {
      await state.writing
      await state.file?.handle.close()
      state.file = undefined
      await this.#anchors.settled()
    }
  }

  /** Also rejects if the arguments cannot be written as JSON. */
  #kept(entry: AuditEntry): Promise<KeptEntry> {
    return orErrAudit(this.#folder, async () => this.#keeping.entry(entry))
  }

  #append(body: Waiting['body']): Promise<number> {
    const state = this.#state
    if (state.isClosed) return Promise.reject(new McpError('ERR_AUDIT', 'The audit log is closed'))
    const { pendingRecords } = this.#limits
    if (state.waiting.length >= pendingRecords)
      return Promise.reject(new McpError('ERR_AUDIT', `More than ${pendingRecords} records are waiting for the disk (pendingRecords)`))
    return new Promise((resolve, reject) => {
      state.waiting.push({ body, resolve, reject })
      state.writing ??= this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    const state = this.#state
    // Records of the same event loop turn are written together.
    await null
    while (state.waiting.length > 0) {
      const batch = state.waiting.splice(0, BATCH_RECORDS)
      try {
        await orErrAudit(this.#folder, () => this.#inTurn(() => this.#write(batch)))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      if (performance.now() - state.othersWroteAt < SHARING_MS) await sleep(ROOM_MS)
    }
    state.writing = undefined
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    return withLockFile(join(this.#folder, LOCK_FILE), this.#limits, run)
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { segmentBytes, recordBytes, checkpointRecords } = this.#limits
    let tail = await this.#mended()
    const isOld = this.#retention !== undefined && Date.now() - tail.begunAt >= segmentMs(this.#retention)
    if (tail.size >= segmentBytes || tail.segment === 0 || isOld) {
      this.#state.mayRetire = true
      // Sign everything first, so that each segment can be read on its own.
      if (tail.unsigned.length > 0) tail = await this.#flush(new PendingRecords(tail).add(this.#statement(tail)))
      tail = { ...tail, segment: tail.segment + 1, size: 0 }
    }
    const lines = new PendingRecords(tail)
    if (tail.size === 0) lines.add({ kind: 'segment', segment: tail.segment, previous: tail.link.hash })
    if (this.#state.recovered) lines.add(this.#state.recovered)
    const written: { seq: number; item: Waiting }[] = []
    for (const item of batch) {
      if (item.body === 'checkpoint') {
        if (lines.tail.unsigned.length > 0) lines.add(this.#statement(lines.tail))
      } else if (!lines.tryAdd(item.body, recordBytes)) {
        item.reject(new McpError('ERR_AUDIT', `A record is longer than ${recordBytes} bytes (recordBytes)`))
        continue
      }
      written.push({ item, seq: lines.tail.link.seq })
      if (lines.tail.unsigned.length >= checkpointRecords) lines.add(this.#statement(lines.tail))
    }
    await this.#flush(lines)
    this.#state.recovered = undefined
    for (const { item, seq } of written) item.resolve(seq)
    if (this.#retention && this.#state.mayRetire) await this.#retire(lines.tail, this.#retention)
  }

  /** Archives first, then records and signs it, then removes. A failure leaves the log as it is; the next segment tries again. */
  async #retire(tail: Tail, retention: AuditRetention): Promise<void> {
    this.#state.mayRetire = false
    try {
      const retired = await chooseRetired(this.#folder, tail.segment, retention, Date.now())
      if (!retired) return
      if (retention.archive !== undefined) await archiveSegments(this.#folder, retention.archive, retired.segments)
      const lines = new PendingRecords(tail).add(retiredBody(retired, retention, this.#key))
      await this.#flush(lines.add(this.#statement(lines.tail)))
      await removeSegments(this.#folder, retired.segments)
    } catch (error) {
      this.#onWarning(`Old segments of the audit log could not be retired: ${error instanceof Error ? error.message : asText(error)}`)
    }
  }

  #statement(tail: Tail): RecordBody {
    const { seq, hash } = tail.link
    const about = { from: seq - tail.unsigned.length + 1, to: seq, root: merkleRoot(tail.unsigned), head: hash, signedAt: Date.now() }
    return { kind: 'checkpoint', checkpoint: this.#key.sign(about) }
  }

  /** Resolves when the records are on the disk. If it rejects, a partial write is undone now or before the next record. */
  async #flush(lines: PendingRecords): Promise<Tail> {
    const state = this.#state
    if (lines.tail.size > lines.from.size) {
      const { handle } = await this.#fileOf(lines.tail.segment)
      // A process that was suspended may have lost the lock without noticing.
      if ((await handle.stat()).size !== lines.from.size)
        throw new McpError('ERR_AUDIT', 'Another process wrote to the audit log out of turn')
      try {
        await handle.appendFile(lines.bytes())
        await handle.datasync()
      } catch (error) {
        await handle.truncate(lines.from.size).catch(() => {})
        throw error
      }
    }
    state.tail = lines.tail
    this.#anchors.put(lines.checkpoints)
    this.#watchUnsigned(lines.tail.unsigned.length > 0)
    return lines.tail
  }

  #watchUnsigned(isAny: boolean): void {
    const state = this.#state
    if (!isAny || state.isClosed) {
      clearTimeout(state.timer)
      state.timer = undefined
      return
    }
    state.timer ??= setTimeout(() => {
      state.timer = undefined
      // A full disk is reported at the next record.
      this.checkpoint().catch(() => {})
    }, this.#limits.checkpointMs).unref()
  }

  async #fileOf(segment: number): Promise<{ handle: FileHandle }> {
    const state = this.#state
    if (state.file?.segment === segment && (await state.file.handle.stat()).nlink > 0) return state.file
    await state.file?.handle.close()
    state.file = undefined
    const handle = await openSegment(this.#folder, segment, 'create')
    // A new file is only durable after its folder is synced.
    if ((await handle.stat()).size === 0) await syncFolder(this.#folder)
    state.file = { handle, segment }
    return state.file
  }

  /** The end of the log, after moving an incomplete line out of the way. */
  async #mended(): Promise<Tail> {
    const state = this.#state
    const before = state.tail
    const { tail, torn } = await followTail(this.#folder, before, this.#limits.recordBytes, this.#key.check)
    if (before && before.link.seq !== tail.link.seq) state.othersWroteAt = performance.now()
    state.tail = tail
    if (!torn) return tail
    await this.#setAside(tail, torn)
    // A record whose newline was missing is now complete.
    return torn.isComplete ? this.#mended() : tail
  }

  async #setAside({ segment, size }: Tail, { bytes, begun, isComplete }: IncompleteLine): Promise<void> {
    const { handle } = await this.#fileOf(segment)
    if (isComplete) {
      await handle.truncate(size + begun)
      await handle.appendFile('\n')
      return handle.datasync()
    }
    const digest = sha256(bytes).toString('hex')
    const file = `torn-${segmentName(segment)}-${size}-${digest.slice(0, 16)}`
    await writePrivate(join(this.#folder, file), bytes)
    await handle.truncate(size)
    await handle.datasync()
    this.#state.recovered = { kind: 'recovered', bytes: bytes.length, digest, file }
    this.#onWarning(`The last record of the audit log was incomplete; its ${bytes.length} bytes were moved to ${join(this.#folder, file)}`)
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Some systems cannot open a folder.
  const handle = await open(folder, 'r').catch(() => undefined)
  try {
    await handle?.sync()
  } catch {
    // Some systems cannot sync a folder.
  } finally {
    await handle?.close()
  }
}

async function orErrAudit<T>(folder: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof McpError && error.code === 'ERR_AUDIT') throw error
    const why = error instanceof McpError ? error.message : (codeOf(error) ?? asText(error))
    throw new McpError('ERR_AUDIT', `The audit log in ${folder} could not be written: ${why}`, { cause: error })
  }
}
