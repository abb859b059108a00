/** Passes the events of a host on to its console, and keeps the logs of servers. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { HostEvent, ServerLog } from '../host/index.ts'
import type { LogEntry } from './api.ts'

/** An event, with the log entry that was made of it. */
export type FeedListener = (event: HostEvent, entry: LogEntry | undefined) => void

/** The events of a host. `consoleFeed` creates it, before the host. */
export interface ConsoleFeed {
  /** Give it to `createHost` as `onEvent`. */
  onEvent(event: HostEvent): void
  /** The kept log of a server, oldest first. */
  logOf(server: string): readonly LogEntry[]
  /** Returns the function that ends it. */
  listen(listener: FeedListener): () => void
}

/** Options for `consoleFeed`. */
export interface ConsoleFeedOptions {
  /** Log entries that are kept of each server. Default: 1000. */
  maxLogEntries?: number
  /** Milliseconds since 1970. Default: the system time. */
  now?(): number
}

/** Servers whose logs are kept, also after they were removed. */
const MAX_SERVERS = 200
/** A longer entry is cut. */
const MAX_ENTRY_CHARS = 16 * 1024

interface ServerEntries {
  entries: LogEntry[]
  last: number
}

/**
 * Receives the events of a host for its console. Create it before the host, so that no event is lost.
 *
 * @example
 * const feed = consoleFeed()
 * const host = await createHost({ onEvent: feed.onEvent })
 * const console = await createConsole(host, { feed })
 */
export function consoleFeed({ maxLogEntries = 1000, now = Date.now }: ConsoleFeedOptions = {}): ConsoleFeed {
  const logs = new BoundedMap<string, ServerEntries>(MAX_SERVERS)
  const listeners = new Set<FeedListener>()

  const keep = (server: string, log: ServerLog): LogEntry => {
    const known = logs.get(server) ?? { entries: [], last: 0 }
    const entry: LogEntry = { seq: ++known.last, at: now(), log: cut(log) }
    known.entries.push(entry)
    // Removes a tenth at a time: removing one by one would move all others each time.
    if (known.entries.length > maxLogEntries * 1.1) known.entries = known.entries.slice(-maxLogEntries)
    logs.set(server, known)
    return entry
  }

  return {
    onEvent: (event) => {
      const entry = event.kind === 'log' ? keep(event.server, event.log) : undefined
      for (const listener of [...listeners]) listener(event, entry)
    },
    logOf: (server) => logs.get(server)?.entries.slice(-maxLogEntries) ?? [],
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function cut(log: ServerLog): ServerLog {
  if (log.kind === 'stderr') return log.line.length <= MAX_ENTRY_CHARS ? log : { ...log, line: cutText(log.line) }
  const text = JSON.stringify(log.message.data) ?? ''
  return text.length <= MAX_ENTRY_CHARS ? log : { ...log, message: { ...log.message, data: cutText(text) } }
}

const cutText = (text: string): string => `${text.slice(0, MAX_ENTRY_CHARS)}… (${text.length} characters)`
