/** Asks the person to approve offerings: once for each state of a server, and not again after a denial. */

import { McpError } from '../../protocol/errors.ts'
import type { RefusalData } from '../consent/gate/refusal.ts'
import type { EnabledOffering } from '../model/event.ts'
import type { Review } from '../model/review.ts'
import { keyOf } from './comparison.ts'
import { enableOffering } from './enable-offering.ts'
import type { OtherName } from './name-warnings.ts'
import { approve, notOffered, reviewInTurns, reviewOf, reviewState, stateOf } from './review.ts'
import type { ReviewedServer, ReviewServices } from './reviewed-server.ts'

export interface ReviewQueueOptions {
  parts: ReviewServices
  /** The names of all other servers and of what they offer, to warn about look-alikes. */
  othersThan(server: ReviewedServer): readonly OtherName[]
  onReview(review: Review): void
  /** Called when the first offering of a server is in use without a question. */
  onEnabled(enabled: EnabledOffering): void
  /** Called when the approved definitions of a server changed. */
  onApproved(server: ReviewedServer): void
  onWarning(server: string, text: string): void
}

export interface AskOptions {
  signal?: AbortSignal | undefined
  /** The kinds and names of the definitions to ask about. Default: all that wait. */
  items?: readonly string[]
}

interface BeginOptions {
  signal?: AbortSignal | undefined
  isTold?: boolean
  only?: ReadonlySet<string>
}

export class ReviewQueue {
  readonly #options: ReviewQueueOptions
  /** The state of the last question. */
  readonly #asked = new WeakMap<ReviewedServer, string>()
  /** Servers whose offering changed during a question. */
  readonly #changed = new WeakSet<ReviewedServer>()
  readonly #asking = new Map<ReviewedServer, Promise<void>>()

  constructor(options: ReviewQueueOptions) {
    this.#options = options
  }

  review(server: ReviewedServer): Review | undefined {
    return reviewOf(server, this.#options.parts, this.#options.othersThan(server))
  }

  notOffered(server: ReviewedServer): string[] {
    return notOffered(server, this.#options.parts)
  }

  /** Call when a server has listed its offering. Asks in the background, unless this state was asked about before. */
  look(server: ReviewedServer): void {
    // A change during a question is looked at after the answer, because more changes may follow until then.
    if (this.#asking.has(server)) return void this.#changed.add(server)
    const state = reviewState(server, this.#options.parts)
    if (state === undefined || this.#asked.get(server) === state) return
    this.#asked.set(server, state)
    void this.#begin(server, { isTold: true }).catch((error: Error) => {
      if (!server.ending.aborted) this.#options.onWarning(server.id, error.message)
    })
  }

  /** Asks now, also after a denial. Resolves when the offering is approved; rejects otherwise. */
  async ask(server: ReviewedServer, { signal, items }: AskOptions = {}): Promise<void> {
    if (!this.#asking.has(server) && reviewState(server, this.#options.parts) === undefined) return
    if (!items) return this.#asking.get(server) ?? this.#begin(server, { signal })
    const only = new Set(items)
    // A question about everything includes these.
    if (this.#asking.has(server)) return this.#asking.get(server)
    if (this.review(server)?.items.some((item) => only.has(keyOf(item)))) await this.#begin(server, { signal, only })
  }

  #begin(server: ReviewedServer, { signal, isTold = false, only }: BeginOptions): Promise<void> {
    const { ending } = server
    const asking = this.#ask(server, signal ? AbortSignal.any([signal, ending]) : ending, isTold, only).finally(() => {
      this.#asking.delete(server)
      if (this.#changed.delete(server)) this.look(server)
    })
    this.#asking.set(server, asking)
    return asking
  }

  /** Resolves when no question is pending. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) await Promise.allSettled(this.#asking.values())
  }

  /** Resolves when no question about this server is pending. */
  async settledFor(server: ReviewedServer): Promise<void> {
    while (this.#asking.has(server)) await this.#asking.get(server)?.catch(() => {})
  }

  /**
   * Takes the first offering of a server into use, except for the part with warnings, if it was read without faults and the person
   * agreed to the start. A later offering, also one that comes while this one is examined, is asked about.
   */
  async #enableFirst(server: ReviewedServer, signal: AbortSignal): Promise<boolean> {
    const { parts, othersThan, onApproved, onEnabled } = this.#options
    const { offering, isListedWhole } = server
    if (!offering) return false
    // Also noted for an offering with faults: the person is asked about that one, and a later offering must not be enabled as the
    // "first" without asking.
    const mayEnable = isListedWhole && server.isStartedByPerson
    const isFirst = await parts.pins.offered(server.facts, parts.wallNow(), mayEnable ? offering : undefined)
    if (!isFirst || !mayEnable) return false
    const enabled = await enableOffering(server, parts, { offering, others: othersThan(server), signal }).catch((error: unknown) => {
      // Another host of this folder may have taken the same offering into use meanwhile.
      if (!isChange(error) || signal.aborted) throw error
      return undefined
    })
    if (!enabled) {
      await parts.pins.notEnabled(server.id)
      return false
    }
    onApproved(server)
    onEnabled(enabled)
    return true
  }

  async #ask(server: ReviewedServer, signal: AbortSignal, isTold: boolean, only: ReadonlySet<string> | undefined): Promise<void> {
    const { parts, othersThan, onApproved, onReview } = this.#options
    const isEnabled = isTold && (await this.#enableFirst(server, signal))
    if (isTold && reviewState(server, parts) === undefined) {
      // Another host of this folder took it into use.
      if (!isEnabled) onApproved(server)
      return
    }
    const known = isTold ? await reviewInTurns(server, parts, othersThan(server)) : undefined
    if (known) onReview(known.review)
    for (;;) {
      try {
        const hasMore = await approve(server, parts, othersThan(server), {
          onShown: ({ digest }) => this.#asked.set(server, stateOf(server, digest)),
          known,
          isFirst: isEnabled,
          only,
          signal,
        })
        onApproved(server)
        if (!hasMore) return
      } catch (error) {
        // The offering changed while the person was reading, so they are asked about the new one. A rule would only decide the same again.
        if (!isChange(error) || signal.aborted) throw error
        if (reviewState(server, parts) === undefined) return
      }
    }
  }
}

/** The definitions are no longer those that were decided about. */
const isChange = (error: unknown): boolean => error instanceof McpError && error.code === 'ERR_QUARANTINED' && !isByPolicy(error)

const isByPolicy = ({ data }: McpError): boolean => (data as Partial<RefusalData> | undefined)?.by === 'policy'
