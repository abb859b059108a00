/** Sees to it that somebody looks at what servers offer: once for each state of a server, and not again because they said no. */

import { McpError } from '../protocol/errors.ts'
import { approve, type Review, reviewOf } from './approval.ts'
import { digestOf } from './digest.ts'
import type { RefusalData } from './gate/refusal.ts'
import type { HostedServer } from './hosted-server.ts'
import type { HostParts } from './parts.ts'
import type { OtherName } from './pins/flags.ts'

export interface ApprovalsOptions {
  parts: HostParts
  /** All tools of the other servers, by which names can be told to be theirs. */
  othersThan(server: HostedServer): readonly OtherName[]
  onReview(review: Review): void
  /** What is in use of the server is something else now. */
  onApproved(server: HostedServer): void
  onWarning(server: string, text: string): void
}

export class Approvals {
  readonly #options: ApprovalsOptions
  /** What was asked about last. */
  readonly #asked = new WeakMap<HostedServer, string>()
  /** Servers that listed something while they were asked about. */
  readonly #changed = new WeakSet<HostedServer>()
  readonly #asking = new Map<HostedServer, Promise<void>>()

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  review(server: HostedServer): Review | undefined {
    return reviewOf(server, this.#options.parts, this.#options.othersThan(server))
  }

  /** The server has listed something. Asks in the background if that was not asked before. */
  look(server: HostedServer): void {
    const review = this.review(server)
    if (!review || this.#asked.get(server) === stateOf(server, review)) return
    if (this.#asking.has(server)) return void this.#changed.add(server)
    this.#asked.set(server, stateOf(server, review))
    this.#options.onReview(review)
    void this.ask(server).catch((error: Error) => {
      if (!server.supervised.ending.aborted) this.#options.onWarning(server.id, error.message)
    })
  }

  /** Asks now, also about what was refused before. Resolves when it is in use; rejects when it is not. */
  ask(server: HostedServer, signal?: AbortSignal): Promise<void> {
    const former = this.#asking.get(server)
    if (former) return former
    const { ending } = server.supervised
    const asking = this.#ask(server, signal ? AbortSignal.any([signal, ending]) : ending).finally(() => {
      this.#asking.delete(server)
      if (this.#changed.delete(server)) this.look(server)
    })
    this.#asking.set(server, asking)
    return asking
  }

  /** Resolves when nobody is being asked any more. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) await Promise.allSettled(this.#asking.values())
  }

  async #ask(server: HostedServer, signal: AbortSignal): Promise<void> {
    const { parts, othersThan, onApproved } = this.#options
    for (;;) {
      try {
        await approve(server, parts, othersThan(server), {
          onShown: (review) => this.#asked.set(server, stateOf(server, review)),
          signal,
        })
        return onApproved(server)
      } catch (error) {
        // It listed something else while the person was reading: they are shown that. A rule would say the same again.
        if (!(error instanceof McpError) || error.code !== 'ERR_QUARANTINED' || isByPolicy(error) || signal.aborted) throw error
        if (!this.review(server)) return
      }
    }
  }
}

const stateOf = ({ facts }: HostedServer, { items, gone }: Review): string =>
  digestOf([facts.fingerprint, items.map(({ kind, name, definition }) => [kind, name, definition]), gone])

const isByPolicy = ({ data }: McpError): boolean => (data as Partial<RefusalData> | undefined)?.by === 'policy'
