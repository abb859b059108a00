/** Responses that may be used again: for as long as the server said, by whom it said, until it says otherwise. */

import { BoundedMap } from '../base/bounded-map.ts'
import { comparableJson } from '../base/canonical-json.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Params } from '../jsonrpc/message.ts'

interface Entry {
  method: string
  uri: unknown
  server: string
  result: Params
  freshUntil: number
}

export interface CacheScope {
  /** Which server the response came from. */
  server: string
  /** Whose it is, if it is private. */
  partition: string
}

/** May be shared by many clients: public responses serve all of them, private ones only their own partition. */
export class ResponseCache {
  readonly #entries: BoundedMap<string, Entry>
  readonly #clock: Clock

  constructor(options: { maxEntries?: number; clock?: Clock } = {}) {
    this.#entries = new BoundedMap(options.maxEntries ?? 1000)
    this.#clock = options.clock ?? systemClock
  }

  get(method: string, params: Params, scope: CacheScope): Params | undefined {
    for (const key of [keyOf(method, params, scope.server, scope.partition), keyOf(method, params, scope.server, undefined)]) {
      const entry = this.#entries.get(key)
      if (!entry) continue
      if (entry.freshUntil > this.#clock.now()) return entry.result
      this.#entries.delete(key)
    }
    return undefined
  }

  /** Keeps a response if it says how long; a response without a scope is private. */
  put(method: string, params: Params, result: Params, scope: CacheScope): void {
    // What depends on answers to questions is for this once.
    if ('inputResponses' in params || 'requestState' in params) return
    const { ttlMs, cacheScope } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const key = keyOf(method, params, scope.server, cacheScope === 'public' ? undefined : scope.partition)
    this.#entries.set(key, { method, uri: params.uri, server: scope.server, result, freshUntil: this.#clock.now() + ttlMs })
  }

  /** Forgets what a change notice makes stale. */
  invalidate(server: string, methods: readonly string[], uri?: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.server === server && methods.includes(entry.method) && (uri === undefined || entry.uri === uri)) this.#entries.delete(key)
    }
  }
}

const keyOf = (method: string, params: Params, server: string, partition: string | undefined): string => {
  const { _meta: _, ...rest } = params
  return comparableJson([server, partition ?? null, method, rest])
}
