/** Passes the events of a host on to its console, and keeps the logs of servers. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { HostEvent, HostTraffic, ServerLog } from '../host/index.ts'
import type { LogEntry, MessageView } from './api.ts'
import { checkOptions } from './check-options.ts'
import { shortCopy } from './timeline/short-copy.ts'
import { Timeline, type TimelineLimits } from './timeline/timeline.ts'

/** An event, with the log entry that was made of it. */
export type FeedListener = (event: HostEvent, entry: LogEntry | undefined) => void

/** A message, with its row in the timeline. Undefined for the HTTP exchange of an earlier message. */
export type TrafficListener = (traffic: HostTraffic, row: MessageView | undefined) => void

/** The events of a host. `consoleFeed` creates it, before the host. */
export interface ConsoleFeed {
  /** Give it to `createHost` as `onEvent`. */
  onEvent(event: HostEvent): void
  /** Give it to `createHost` as `onTraffic`, for the timeline and for recordings. */
  onTraffic(traffic: HostTraffic): void
  /** The messages of all connections. */
  readonly timeline: Timeline
  /** The kept log of a server, oldest first. */
  logOf(server: string): readonly LogEntry[]
  /** Returns the function that ends it. */
  listen(listener: FeedListener): () => void
  /** Returns the function that ends it. */
  listenToTraffic(listener: TrafficListener): () => void
}

/** Options for `consoleFeed`. */
export interface ConsoleFeedOptions {
  /** Limits of the timeline that differ from the defaults in docs/console-api.md. */
  timeline?: Partial<TimelineLimits>
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
 * const host = await createHost({ onEvent: feed.onEvent, onTraffic: feed.onTraffic })
 * const console = await createConsole(host, { feed })
 */
export function consoleFeed(options: ConsoleFeedOptions = {}): ConsoleFeed {
  checkOptions('consoleFeed', options, { timeline: 1, maxLogEntries: 1, now: 1 })
  const { maxLogEntries = 1000, now = Date.now, timeline: limits } = options
  const logs = new BoundedMap<string, ServerEntries>(MAX_SERVERS)
  const listeners = new Set<FeedListener>()
  const watchers = new Set<TrafficListener>()
  const timeline = new Timeline(limits)

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
    onTraffic: (traffic) => {
      const row = timeline.add(traffic)
      for (const watcher of [...watchers]) watcher(traffic, row)
    },
    timeline,
    logOf: (server) => logs.get(server)?.entries.slice(-maxLogEntries) ?? [],
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    listenToTraffic: (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}

function cut(log: ServerLog): ServerLog {
  if (log.kind === 'stderr') return log.line.length <= MAX_ENTRY_CHARS ? log : { ...log, line: cutText(log.line) }
  const { logger, data, ...rest } = log.message
  const text = JSON.stringify(data) ?? ''
  return {
    ...log,
    message: {
      ...rest,
      data: text.length <= MAX_ENTRY_CHARS ? data : cutText(text),
      ...(logger !== undefined && { logger: shortCopy(logger) }),
    },
  }
}

/** A copy, because V8 keeps a whole string alive for the sake of any `slice` of it. */
const cutText = (text: string): string => Buffer.from(`${text.slice(0, MAX_ENTRY_CHARS)}… (${text.length} characters)`).toString()
