/** What a conversation has seen so far: the labels it has gathered, from where, and the private texts among it. */

import { withDefaults } from '../../protocol/with-defaults.ts'
import type { ArgumentOrigin } from '../ask/question.ts'
import { isPrivate, UNTRUSTED } from './label.ts'
import { DEFAULT_PROVENANCE_LIMITS, Provenance, type ProvenanceLimits } from './provenance.ts'

/** Something that came into the conversation: a result, a resource, a prompt. */
export interface Arrival {
  labels: readonly string[]
  /** For people: `mail/inbox`. It gets a number, so that the third is told from the first. */
  source: string
  /** Whatever of it the model may repeat. */
  value: unknown
  /** Milliseconds of the wall clock; now unless given. */
  at?: number
}

/** The first are enough to say where a label comes from. */
const MAX_SOURCES_A_LABEL = 20
const MAX_LABELS = 1_000

export class FlowContext {
  readonly #provenance: Provenance
  readonly #from = new Map<string, string[]>()
  #untrustedSince: number | undefined
  #arrivals = 0

  constructor(limits: Partial<ProvenanceLimits> = {}) {
    this.#provenance = new Provenance(withDefaults(DEFAULT_PROVENANCE_LIMITS, limits))
  }

  /** Only ever grows: what was read cannot be unread. */
  get labels(): readonly string[] {
    return [...this.#from.keys()]
  }

  /** Whether only long stretches of private texts are sure to be found, because there are so many. */
  get isThinned(): boolean {
    return this.#provenance.isThinned
  }

  /** What brought a label into the conversation, the first first. */
  sourcesOf(label: string): readonly string[] {
    return this.#from.get(label) ?? []
  }

  /** When text of others first came; undefined while there is none. */
  get untrustedSince(): number | undefined {
    return this.#untrustedSince
  }

  /** Returns the source with its number. */
  add({ labels, source, value, at = Date.now() }: Arrival): string {
    if (labels.includes(UNTRUSTED)) this.#untrustedSince ??= at
    const numbered = `${source}#${++this.#arrivals}`
    for (const label of labels) {
      const sources = this.#from.get(label)
      if (sources && sources.length < MAX_SOURCES_A_LABEL) sources.push(numbered)
      else if (!sources && this.#from.size < MAX_LABELS) this.#from.set(label, [numbered])
    }
    if (labels.some(isPrivate)) this.#provenance.remember(numbered, value)
    return numbered
  }

  /** Where pieces of the arguments come from, among what was private: the largest first. */
  originsOf(args: Readonly<Record<string, unknown>>): ArgumentOrigin[] {
    return this.#provenance.originsOf(args)
  }
}
