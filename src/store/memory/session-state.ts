/** One session in memory, with its streams. */

import type { SessionLife } from '../session-table.ts'
import { STANDING_STREAM } from '../stream-logs.ts'
import type { EventLog } from './event-log.ts'

export interface CallInProgress {
  replica: string
  /** Another replica has begun it. */
  isTakenOver: boolean
  isCancelled: boolean
}

export class SessionState {
  record: string
  revision = 1
  readonly life: SessionLife
  readonly endsAt: number
  usedAt: number
  topicsRenewedAt: number
  readonly calls = new Map<string, CallInProgress>()
  readonly streams = new Map<string, EventLog>()
  /** Ended streams that are kept, oldest first. */
  readonly ended: string[] = []

  constructor(record: string, life: SessionLife, now: number) {
    this.record = record
    this.life = life
    this.endsAt = now + life.maxAgeMs
    this.usedAt = now
    this.topicsRenewedAt = now
  }

  /** Notes a use. Returns how long the session lives from then on without another one. */
  use(now: number): number {
    this.usedAt = now
    return Math.min(this.life.ttlMs, this.endsAt - now)
  }

  stream(name: string, now: number): EventLog | undefined {
    const log = this.streams.get(name)
    if (!log || log.expiresAt > now) return log
    this.streams.delete(name)
    return undefined
  }

  /** The bytes of all events. */
  bytesAt(now: number): number {
    let bytes = 0
    for (const name of [...this.streams.keys()]) bytes += this.stream(name, now)?.bytes ?? 0
    return bytes
  }

  /**
   * Forgets events until so many bytes are free: ended streams first, then the oldest of `growing`, then those of other streams, last the
   * standing one. The newest event of `growing` and unread changes stay. Returns the bytes.
   */
  free(bytes: number, now: number, growing?: EventLog): number {
    let freed = 0
    for (const name of [...this.ended]) {
      if (freed >= bytes) return freed
      const log = this.streams.get(name)
      if (log && log === growing) continue
      freed += log?.bytes ?? 0
      this.streams.delete(name)
      this.ended.splice(this.ended.indexOf(name), 1)
    }
    freed += growing?.free(bytes - freed, 1, now) ?? 0
    const standing = this.streams.get(STANDING_STREAM)
    for (const log of [...this.streams.values()].sort((a, b) => Number(a === standing) - Number(b === standing))) {
      if (freed >= bytes) return freed
      if (log !== growing) freed += log.free(bytes - freed, 0, now)
    }
    return freed
  }

  /** Forgets unread changes, too. The newest event of `growing` stays. Returns the bytes. */
  freeUnread(bytes: number, growing?: EventLog): number {
    const standing = this.streams.get(STANDING_STREAM)
    return standing?.freeUnread(bytes, standing === growing ? 1 : 0) ?? 0
  }

  /** The stream has ended. It is kept for a while, and the oldest of too many is dropped. */
  keepEnded(name: string, maxEnded: number): void {
    this.ended.push(name)
    while (this.ended.length > maxEnded) this.streams.delete(this.ended.shift() ?? '')
  }
}
