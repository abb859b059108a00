/** A cache of results, for as long as the server allows. */

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

/** The server and the user that a result belongs to. */
export interface CacheScope {
  /** The server that sent the result. */
  server: string
  /** The user that a private result belongs to. */
  partition: string
}

/**
 * Results that the server allows clients to cache. Clients may share one: public results serve all of them, private results only
 * clients with the same `cachePartition`.
 *
 * @example
 * const cache = new ResponseCache({ maxEntries: 5000 })
 * const client = await connect(url, { cache, cachePartition: userId })
 */
export class ResponseCache {
  readonly #entries: BoundedMap<string, Entry>
  readonly #clock: Clock

  /** @param options `maxEntries` is the number of results; the oldest are dropped first. Default: 1000. */
  constructor(options: { maxEntries?: number; clock?: Clock } = {}) {
    this.#entries = new BoundedMap(options.maxEntries ?? 1000)
    this.#clock = options.clock ?? systemClock
  }

  /**
   * A result that is still fresh, or undefined.
   *
   * @example
   * const known = cache.get('tools/list', {}, { server: url, partition: userId })
   */
  get(method: string, params: Params, scope: CacheScope): Params | undefined {
    for (const key of [keyOf(method, params, scope.server, scope.partition), keyOf(method, params, scope.server, undefined)]) {
      const entry = this.#entries.get(key)
      if (!entry) continue
      if (entry.freshUntil > this.#clock.now()) return entry.result
      this.#entries.delete(key)
    }
    return undefined
  }

  /**
   * Stores a result if it has a `ttlMs`. A result without a scope is private.
   *
   * @example
   * cache.put('tools/list', {}, result, { server: url, partition: userId })
   */
  put(method: string, params: Params, result: Params, scope: CacheScope): void {
    // A result that depends on answers is not for other requests.
    if ('inputResponses' in params || 'requestState' in params) return
    const { ttlMs, cacheScope } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const key = keyOf(method, params, scope.server, cacheScope === 'public' ? undefined : scope.partition)
    this.#entries.set(key, { method, uri: params.uri, server: scope.server, result, freshUntil: this.#clock.now() + ttlMs })
  }

  /**
   * Removes the results of these methods of a server, or those for one URI only. Clients do it when they are told of a change.
   *
   * @example
   * cache.invalidate(url, ['tools/list'])
   */
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
