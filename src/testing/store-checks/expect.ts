/** Helpers of the checks of a store. */

import { randomId } from '../../base/bytes.ts'
import { comparableJson } from '../../base/canonical-json.ts'
import type { StoreMessage } from '../../store/replica.ts'
import type { SessionLife } from '../../store/session-table.ts'
import type { SharedStore } from '../../store/shared-store.ts'
import type { AppendedBatch, Attached, LogBounds, NewEvent, StreamEvent } from '../../store/stream-logs.ts'
import type { CheckStoreOptions } from '../check-store.ts'

/** Opens one more replica of the store. */
export type OpenReplica = () => Promise<SharedStore>

export type StoreCheck = (open: OpenReplica, options: CheckStoreOptions) => Promise<void>

const LIFE: SessionLife = { ttlMs: 60_000, maxAgeMs: 600_000 }
export const BOUNDS: LogBounds = { maxEvents: 100, maxBytes: 100_000, maxSessionBytes: 100_000_000, endedTtlMs: 60_000, maxEnded: 16 }
/** How long a message may take to another replica. */
export const MESSAGE_MS = 5000

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [found, expected].map((value) => (value === undefined ? 'nothing' : comparableJson(JSON.parse(JSON.stringify(value)))))
  if (a !== b) throw new Error(`SharedStore, ${what}: expected ${b}, got ${a}`)
}

export const expectTrue = (what: string, isTrue: boolean): void => expectEqual(what, isTrue, true)

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A new session with an id that no other check uses. */
export async function newSession(store: SharedStore, life: Partial<SessionLife> = {}): Promise<string> {
  const sid = randomId()
  await store.sessions.create(sid, '{}', { ...LIFE, ...life })
  return sid
}

export async function openStream(store: SharedStore, sid: string, stream: string, call = '{}'): Promise<number> {
  const epoch = await store.streams.open(sid, stream, call)
  if (typeof epoch !== 'number') throw new Error(`SharedStore, open of a stream: expected an epoch, got ${epoch}`)
  return epoch
}

/** Appends events and returns their positions. */
export async function append(
  store: SharedStore,
  sid: string,
  stream: string,
  batch: { n: number; epoch?: number; isLast?: boolean; events: (string | NewEvent)[] },
  bounds: Partial<LogBounds> = {},
): Promise<AppendedBatch> {
  const events = batch.events.map((event) => (typeof event === 'string' ? { json: event } : event))
  const appended = await store.streams.append(sid, stream, { ...batch, events }, { ...BOUNDS, ...bounds })
  if (typeof appended === 'string') throw new Error(`SharedStore, append: expected positions, got ${appended}`)
  return appended
}

export async function attach(store: SharedStore, sid: string, stream: string, after?: string, limit = 100): Promise<Attached> {
  const attached = await store.streams.attach(sid, stream, after, limit)
  if (typeof attached === 'string') throw new Error(`SharedStore, attach after ${after ?? 'nothing'}: expected events, got ${attached}`)
  return attached
}

export async function readOn(store: SharedStore, sid: string, stream: string, reader: number, after: string): Promise<StreamEvent[]> {
  const read = await store.streams.read(sid, stream, reader, after, 100)
  if (typeof read === 'string') throw new Error(`SharedStore, read after ${after}: expected events, got ${read}`)
  return read.events
}

export const jsonOf = (events: readonly StreamEvent[]): string[] => events.map(({ json }) => json)

export const positionAt = ({ positions }: AppendedBatch, at: number): string => {
  const position = positions.at(at)
  if (position === undefined) throw new Error(`SharedStore, append: expected a position of event ${at}, got nothing`)
  return position
}

/** Collects the messages of a replica. */
export async function inboxOf(store: SharedStore): Promise<{ next(kind: StoreMessage['kind'], withinMs?: number): Promise<StoreMessage> }> {
  const messages: StoreMessage[] = []
  store.replica.listen((message) => messages.push(message))
  await store.replica.join()
  return {
    next: async (kind, withinMs = MESSAGE_MS) => {
      const end = Date.now() + withinMs
      for (;;) {
        const at = messages.findIndex((message) => message.kind === kind)
        const [message] = at < 0 ? [] : messages.splice(at, 1)
        if (message) return message
        if (Date.now() > end) throw new Error(`SharedStore: expected a message of kind "${kind}" within ${withinMs} ms, got none`)
        await pause(5)
      }
    },
  }
}
