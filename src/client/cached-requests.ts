/** Answers requests from the response cache while their results are fresh. */

import type { Clock } from '../base/clock.ts'
import { INVALID_PARAMS, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import { type CacheScope, ResponseCache } from './cache.ts'
import type { CallOptions, ConnectOptions } from './options.ts'

const STALE: Readonly<Record<Change['kind'], readonly string[]>> = {
  tools: ['tools/list'],
  prompts: ['prompts/list'],
  resources: ['resources/list', 'resources/templates/list'],
  resource: ['resources/read'],
  extension: [],
}

export interface RequestSource {
  request(method: string, params: Params, options: CallOptions): Promise<Params>
  /** Whether the revision defines caching. In others the members of a result that allow it have no defined meaning. */
  hasCaching(): boolean
}

export class CachedRequests {
  readonly #cache: ResponseCache
  readonly #scope: CacheScope
  readonly #source: RequestSource

  /** Undefined if the options say that there is no cache. */
  static of(
    server: string,
    clock: Clock,
    options: Pick<ConnectOptions, 'cache' | 'cachePartition'>,
    source: RequestSource,
  ): CachedRequests | undefined {
    const { cache = new ResponseCache({ clock }), cachePartition: partition = crypto.randomUUID() } = options
    return cache === false ? undefined : new CachedRequests(cache, { server, partition }, source)
  }

  private constructor(cache: ResponseCache, scope: CacheScope, source: RequestSource) {
    this.#cache = cache
    this.#scope = scope
    this.#source = source
  }

  request(method: string, params: Params, options: CallOptions): Promise<Params> {
    const result = this.#resultOf(method, params, options)
    return params.cursor === undefined ? result : this.#pageOr(result, method)
  }

  /** Removes the results that a change makes outdated. */
  drop(change: Change): void {
    this.#cache.invalidate(this.#scope.server, STALE[change.kind], change.kind === 'resource' ? change.uri : undefined)
  }

  /** Removes the results that no change notice covers, because the server may be a different one now. */
  dropUnannounced(): void {
    this.#cache.invalidate(this.#scope.server, ['resources/read', 'server/discover'])
  }

  async #resultOf(method: string, params: Params, options: CallOptions): Promise<Params> {
    const known = options.isFresh ? undefined : this.#cache.get(method, params, this.#scope)
    if (known) return known
    const result = await this.#source.request(method, params, options)
    if (this.#source.hasCaching()) this.#cache.put(method, params, result, this.#scope)
    return result
  }

  /** When the server rejects a cursor, the cached pages before it are outdated too. */
  async #pageOr(page: Promise<Params>, method: string): Promise<Params> {
    try {
      return await page
    } catch (error) {
      if (error instanceof RemoteError && error.code === INVALID_PARAMS) this.#cache.invalidate(this.#scope.server, [method])
      throw error
    }
  }
}
