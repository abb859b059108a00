/** One session in memory, with its streams. */

import type { SessionLife } from '../session-table.ts'
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
  topicsRenewedAt: number
  readonly calls = new Map<string, CallInProgress>()
  readonly streams = new Map<string, EventLog>()
  /** Ended streams that are kept, oldest first. */
  readonly ended: string[] = []

  constructor(record: string, life: SessionLife, now: number) {
    this.record = record
    this.life = life
    this.endsAt = now + life.maxAgeMs
    this.topicsRenewedAt = now
  }

  ttlAt(now: number): number {
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
   * Forgets events until so many bytes are free: ended streams first, then the oldest of `growing`, then those of other streams. The newest
   * event of `growing` stays. Returns the bytes.
   */
  free(bytes: number, growing?: EventLog): number {
    let freed = 0
    for (const name of [...this.ended]) {
      if (freed >= bytes) return freed
      const log = this.streams.get(name)
      if (log && log === growing) continue
      freed += log?.bytes ?? 0
      this.streams.delete(name)
      this.ended.splice(this.ended.indexOf(name), 1)
    }
    freed += growing?.free(bytes - freed, 1) ?? 0
    for (const log of this.streams.values()) {
      if (freed >= bytes) return freed
      if (log !== growing) freed += log.free(bytes - freed, 0)
    }
    return freed
  }

  /** The stream has ended. It is kept for a while, and the oldest of too many is dropped. */
  keepEnded(name: string, maxEnded: number): void {
    this.ended.push(name)
    while (this.ended.length > maxEnded) this.streams.delete(this.ended.shift() ?? '')
  }
}
