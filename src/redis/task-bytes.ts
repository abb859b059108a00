/** Limits the bytes of tasks in Redis, of one caller and in all. */

import { BoundedMap } from '../base/bounded-map.ts'
import { McpError } from '../protocol/errors.ts'
import type { RedisContext } from './context.ts'
import { EXTRA_BYTES, sizeTask } from './scripts/size-task.ts'

/** How many bytes of tasks Redis keeps. */
export interface RedisTaskLimits {
  /** Of all tasks together. More is refused with ERR_LIMIT. Default: 1 GiB. */
  maxBytes?: number
  /** Of the tasks of one caller. Without authentication: of one address. Default: 256 MiB. */
  maxBytesPerCaller?: number
}

/** A change of a task. */
export interface CountedChange {
  account: string
  /** Of the task, among all. */
  name: string
  edition: number
  /** How long the task is still kept. */
  lifeMs: number
}

interface CountedLength {
  name: string
  length: number
  max?: number
  lifeMs: number
  counted?: number
}

/** Tasks whose size this process remembers. */
const MAX_KNOWN = 10_000

export class TaskBytes {
  readonly #context: RedisContext
  readonly #maxBytes: number
  readonly #maxBytesPerCaller: number
  /** What this process counted last. It is right until another process changes the task. */
  readonly #known = new BoundedMap<string, { edition: number; bytes: number }>(MAX_KNOWN)

  constructor(context: RedisContext, { maxBytes = 1024 ** 3, maxBytesPerCaller = 256 * 1024 ** 2 }: RedisTaskLimits) {
    this.#context = context
    this.#maxBytes = maxBytes
    this.#maxBytesPerCaller = maxBytesPerCaller
  }

  /** Counts a change that is made next. Throws ERR_LIMIT if the task grows and there is no room for it. */
  async set(change: CountedChange, length: number): Promise<void> {
    const { account, name, edition } = change
    const last = this.#known.get(name)
    const known = last?.edition === edition - 1 ? last.bytes : 0
    const bytes = hasRoom(known, length) ? known : await this.#set(account, change, length)
    this.#known.set(name, { edition, bytes })
  }

  /**
   * Counts what Redis has, because a change was counted and another one was made.
   *
   * @param kept the length of the task that Redis has; 0 if there is none
   */
  async undo({ account, name, lifeMs }: CountedChange, length: number, kept: number): Promise<void> {
    this.#known.delete(name)
    for (const each of [account, undefined]) await this.#count(each, { name, lifeMs, length: kept, counted: length + EXTRA_BYTES })
  }

  async remove(account: string, name: string): Promise<void> {
    this.#known.delete(name)
    for (const each of [account, undefined]) await this.#count(each, { name, lifeMs: 1, length: 0 })
  }

  /** Returns what is counted from now on. */
  async #set(account: string, { name, lifeMs }: CountedChange, length: number): Promise<number> {
    const before = await this.#count(account, { name, lifeMs, length, max: this.#maxBytesPerCaller })
    if (before < 0) throw refused('The tasks of one caller', 'maxBytesPerCaller', this.#maxBytesPerCaller)
    const bytes = hasRoom(before, length) ? before : length + EXTRA_BYTES
    if ((await this.#count(undefined, { name, lifeMs, length, max: this.#maxBytes })) < 0) {
      await this.#count(account, { name, lifeMs, length: Math.max(0, before - EXTRA_BYTES), counted: bytes })
      throw refused('All tasks together', 'maxBytes', this.#maxBytes)
    }
    return bytes
  }

  /** @param counted only if so many bytes are counted now: otherwise another process has counted since */
  async #count(
    account: string | undefined,
    { name, length, max = Number.MAX_SAFE_INTEGER, lifeMs, counted }: CountedLength,
  ): Promise<number> {
    const { sizes, ends } = this.#context.keys.taskBytes(account)
    const args = [name, length, max, Math.max(1, Math.ceil(lifeMs)), counted ?? '']
    return (await this.#context.connection.run(sizeTask, [sizes, ends], args)) as number
  }
}

/** Whether a task keeps its count, as the script decides. */
const hasRoom = (counted: number, length: number): boolean => length <= counted && length >= counted - 2 * EXTRA_BYTES

const refused = (what: string, limit: string, max: number): McpError =>
  new McpError('ERR_LIMIT', `${what} take more than ${max} bytes (tasks.${limit} of redis)`, { data: { reason: 'limit', limit, max } })
