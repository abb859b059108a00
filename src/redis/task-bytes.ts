/** Limits the bytes of tasks in Redis, of one caller and in all. */

import { BoundedMap } from '../base/bounded-map.ts'
import { McpError } from '../protocol/errors.ts'
import type { RedisContext } from './context.ts'
import { sizeTask } from './scripts/size-task.ts'

/** How many bytes of tasks Redis keeps. */
export interface RedisTaskLimits {
  /** Of all tasks together. More is refused with ERR_LIMIT. Default: 1 GiB. */
  maxBytes?: number
  /** Of the tasks of one caller. Without authentication: of one address. Default: 256 MiB. */
  maxBytesPerCaller?: number
}

/** What a task counts beyond its record, so that there is room for its end, and a renewed lease changes nothing. */
const EXTRA = 4096
/** Tasks whose size this process remembers. */
const MAX_KNOWN = 10_000

export class TaskBytes {
  readonly #context: RedisContext
  readonly #maxBytes: number
  readonly #maxBytesPerCaller: number
  readonly #known = new BoundedMap<string, number>(MAX_KNOWN)

  constructor(context: RedisContext, { maxBytes = 1024 ** 3, maxBytesPerCaller = 256 * 1024 ** 2 }: RedisTaskLimits) {
    this.#context = context
    this.#maxBytes = maxBytes
    this.#maxBytesPerCaller = maxBytesPerCaller
  }

  /** Throws ERR_LIMIT if the task grows and there is no room for it. */
  async set(account: string, name: string, length: number, lifeMs: number): Promise<void> {
    const bytes = length + EXTRA
    const known = this.#known.get(name) ?? 0
    if (length <= known && bytes >= known - EXTRA) return
    const before = await this.#count(account, name, bytes, this.#maxBytesPerCaller, lifeMs)
    if (before < 0) throw refused('The tasks of one caller', 'maxBytesPerCaller', this.#maxBytesPerCaller)
    if ((await this.#count(undefined, name, bytes, this.#maxBytes, lifeMs)) < 0) {
      await this.#count(account, name, before, Number.MAX_SAFE_INTEGER, lifeMs)
      throw refused('All tasks together', 'maxBytes', this.#maxBytes)
    }
    this.#known.set(name, bytes)
  }

  async remove(account: string, name: string): Promise<void> {
    this.#known.delete(name)
    for (const each of [account, undefined]) await this.#count(each, name, 0, 0, 1)
  }

  async #count(account: string | undefined, name: string, bytes: number, max: number, lifeMs: number): Promise<number> {
    const { sizes, ends } = this.#context.keys.taskBytes(account)
    return (await this.#context.connection.run(sizeTask, [sizes, ends], [name, bytes, max, Math.max(1, Math.ceil(lifeMs))])) as number
  }
}

const refused = (what: string, limit: string, max: number): McpError =>
  new McpError('ERR_LIMIT', `${what} take more than ${max} bytes (tasks.${limit} of redis)`, { data: { reason: 'limit', limit, max } })
