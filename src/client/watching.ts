/** The watchers of changes in this program, combined into one subscription filter for the server. */

import { onAbort } from '../base/on-abort.ts'
import { McpError } from '../protocol/errors.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import type { SubscriptionFilter } from '../protocol/model/subscriptions.ts'
import { endable } from './endable.ts'

/** Resources, lists and tasks that are watched at the same time: as many resources as a server of ours accepts, and the lists. */
const MAX_WATCHES = 1024

export type ListKind = 'tools' | 'prompts' | 'resources'

interface Watcher {
  wants(change: Change): boolean
  tell(change: Change): void
  uri: string | undefined
  kind: ListKind | undefined
  /** What an extension adds to the filter. */
  member?: { name: string; wanted: unknown }
}

export class Watching {
  readonly #watchers = new Set<Watcher>()
  readonly #queues = new Set<ChangeQueue>()
  readonly #onWanted: (filter: SubscriptionFilter) => Promise<void>
  readonly #maxWatches: number

  /** @param maxWatches tests make it small */
  constructor(onWanted: (filter: SubscriptionFilter) => Promise<void>, maxWatches = MAX_WATCHES) {
    this.#maxWatches = maxWatches
    this.#onWanted = onWanted
  }

  tell(change: Change): void {
    for (const watcher of this.#watchers) if (watcher.wants(change)) watcher.tell(change)
  }

  onList(kind: ListKind, listener: () => void): Promise<() => void> {
    return this.#add({ kind, uri: undefined, wants: (change) => change.kind === kind, tell: listener })
  }

  onResource(uri: string, listener: (uri: string) => void): Promise<() => void> {
    const below = uri.endsWith('/') ? uri : `${uri}/`
    return this.#add({
      kind: undefined,
      uri,
      wants: (change) => change.kind === 'resource' && (change.uri === uri || change.uri.startsWith(below)),
      tell: (change) => change.kind === 'resource' && listener(change.uri),
    })
  }

  /** Asks for notifications of an extension. They do not come through `tell`. */
  onMember(name: string, wanted: unknown): Promise<() => void> {
    return this.#add({ kind: undefined, uri: undefined, member: { name, wanted }, wants: () => false, tell: () => {} })
  }

  /** Changes of a resource and of all resources below it, until the loop or the connection ends. */
  changesOf(uri: string): AsyncGenerator<{ uri: string }> {
    return endable((end) => this.#changesOf(uri, end))
  }

  async *#changesOf(uri: string, end: AbortSignal): AsyncGenerator<{ uri: string }, undefined> {
    const queue = new ChangeQueue(() => {})
    this.#queues.add(queue)
    const ended = new Promise<undefined>((resolve) => {
      onAbort(end, () => {
        queue.end()
        resolve(undefined)
      })
    })
    const subscribing = this.onResource(uri, (changed) => queue.push(changed))
    let stop: (() => void) | undefined
    try {
      stop = await Promise.race([subscribing, ended])
      yield* queue
    } finally {
      this.#queues.delete(queue)
      if (stop) stop()
      // The server may confirm after the loop has ended.
      else
        subscribing.then(
          (late) => late(),
          () => {},
        )
    }
  }

  /** Ends all loops over changes. */
  end(): void {
    for (const queue of this.#queues) queue.end()
  }

  /** The filter for all current watchers. Lists of several watchers are joined. */
  filter(): SubscriptionFilter {
    const filter: Record<string, unknown> = {}
    const lists = new Map<string, Set<unknown>>()
    const want = (name: string, wanted: unknown): void => {
      if (!Array.isArray(wanted)) filter[name] = wanted
      else
        lists.set(
          name,
          wanted.reduce((all: Set<unknown>, each) => all.add(each), lists.get(name) ?? new Set()),
        )
    }
    for (const { kind, uri, member } of this.#watchers) {
      if (member) want(member.name, member.wanted)
      if (uri !== undefined) want('resourceSubscriptions', [uri])
      if (kind) want(`${kind}ListChanged`, true)
    }
    for (const [name, all] of lists) filter[name] = [...all]
    return filter
  }

  get isWanted(): boolean {
    return this.#watchers.size > 0
  }

  async #add(watcher: Watcher): Promise<() => void> {
    if (this.#watchers.size >= this.#maxWatches)
      throw new McpError('ERR_LIMIT', `The limit of ${this.#maxWatches} watched resources, lists and tasks is reached`)
    this.#watchers.add(watcher)
    try {
      await this.#onWanted(this.filter())
    } catch (error) {
      this.#watchers.delete(watcher)
      throw error
    }
    return () => {
      if (this.#watchers.delete(watcher)) this.#onWanted(this.filter()).catch(() => {})
    }
  }
}

/** Changes as an async iterator. Several changes of one resource while the loop is busy are delivered once. */
export class ChangeQueue implements AsyncIterableIterator<{ uri: string }> {
  readonly #pending = new Set<string>()
  readonly #onReturn: () => void
  #wake: (() => void) | undefined
  #isOver = false

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  push(uri: string): void {
    this.#pending.add(uri)
    this.#wake?.()
  }

  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<{ uri: string }>> {
    while (this.#pending.size === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const [uri] = this.#pending
    if (uri === undefined) return { done: true, value: undefined }
    this.#pending.delete(uri)
    return { done: false, value: { uri } }
  }

  async return(): Promise<IteratorResult<{ uri: string }>> {
    this.end()
    this.#onReturn()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
