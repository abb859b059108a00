/** One session in memory, with its streams. */

import type { SessionLife } from '../session-table.ts'
import type { EventLog } from './event-log.ts'

export class SessionState {
  record: string
  revision = 1
  readonly life: SessionLife
  readonly endsAt: number
  topicsRenewedAt: number
  /** The replica of each request in progress. */
  readonly calls = new Map<string, string>()
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

  /** The stream has ended. It is kept for a while, and the oldest of too many is dropped. */
  keepEnded(name: string, maxEnded: number): void {
    this.ended.push(name)
    while (this.ended.length > maxEnded) this.streams.delete(this.ended.shift() ?? '')
  }
}
