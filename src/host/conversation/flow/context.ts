/** The labels of a conversation, their sources, and the texts of servers in it. */

import { isObject } from '../../../base/json.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { isPrivate, PRIVATE, UNTRUSTED } from '../../model/label.ts'
import type { ArgumentOrigin } from '../../model/question.ts'
import { DEFAULT_PROVENANCE_LIMITS, Provenance, type ProvenanceLimits, type ProvenanceRecord } from './provenance.ts'

/** Data that enters a conversation: a result, a resource, a prompt. */
export interface Arrival {
  labels: readonly string[]
  /** For people: `mail/inbox`. A number is added, so that several arrivals can be distinguished. */
  source: string
  /** The id of the server that sent it. Undefined: not known. */
  server?: string
  /** The data itself, which the model may repeat. */
  value: unknown
  /** Wall clock in milliseconds. Default: now. */
  at?: number
}

/** A `FlowContext` as JSON. */
export interface FlowRecord {
  /** Each label with its sources. */
  labels: readonly (readonly [label: string, sources: readonly string[]])[]
  /** In milliseconds since 1970. Absent until untrusted text arrives. */
  untrustedSince?: number
  arrivals: number
  provenance: ProvenanceRecord
  /** Texts without a private label, by server. Absent in old records. */
  others?: ProvenanceRecord
}

/** The first sources suffice to explain a label. */
const MAX_SOURCES_A_LABEL = 20
const MAX_LABELS = 1_000
const EARLIER = 'earlier conversation'

export class FlowContext {
  readonly #provenance: Provenance
  /** Texts without a private label. Their sources are the ids of servers. */
  readonly #others: Provenance
  readonly #from = new Map<string, string[]>()
  #untrustedSince: number | undefined
  #arrivals = 0
  #isThinnedTold = false

  constructor(limits: Partial<ProvenanceLimits> = {}) {
    this.#provenance = new Provenance(withDefaults(DEFAULT_PROVENANCE_LIMITS, limits))
    this.#others = new Provenance(withDefaults(DEFAULT_PROVENANCE_LIMITS, limits))
  }

  /**
   * Restores the labels of a stored conversation.
   *
   * @param value its messages, in case the record was made with pieces of another length
   * @throws McpError ERR_INVALID_PARAMS for an invalid record
   */
  static restored(record: FlowRecord, value: unknown, limits: Partial<ProvenanceLimits> = {}): FlowContext {
    const fault = checkRecord(record)
    if (fault !== undefined) throw new McpError('ERR_INVALID_PARAMS', `Invalid flow of a stored conversation: expected ${fault}`)
    const flow = new FlowContext(limits)
    for (const [label, sources] of record.labels) flow.#from.set(label, sources.slice(0, MAX_SOURCES_A_LABEL))
    flow.#untrustedSince = record.untrustedSince
    // A record with the label but without the time: assume that the text has just arrived.
    if (flow.#from.has(UNTRUSTED)) flow.#untrustedSince ??= Date.now()
    flow.#arrivals = record.arrivals
    if (!flow.#provenance.restore(record.provenance) && [...flow.#from.keys()].some(isPrivate)) flow.#provenance.remember(EARLIER, value)
    if (!record.others || !flow.#others.restore(record.others)) flow.#others.remember(EARLIER, value)
    return flow
  }

  /** For messages without labels: they may contain untrusted text and private data. */
  static unknown(value: unknown, limits: Partial<ProvenanceLimits> = {}, at = Date.now()): FlowContext {
    const flow = new FlowContext(limits)
    flow.add({ labels: [UNTRUSTED, `${PRIVATE}*`], source: EARLIER, value, at })
    return flow
  }

  toJSON(): FlowRecord {
    return {
      labels: [...this.#from],
      ...(this.#untrustedSince !== undefined && { untrustedSince: this.#untrustedSince }),
      arrivals: this.#arrivals,
      provenance: this.#provenance.toJSON(),
      others: this.#others.toJSON(),
    }
  }

  /** All labels so far. Labels are never removed: a model cannot unread data. */
  get labels(): readonly string[] {
    return [...this.#from.keys()]
  }

  /** Whether there is so much private text that only long parts of it are recognised reliably. */
  get isThinned(): boolean {
    return this.#provenance.isThinned
  }

  /** Returns true once per conversation, when `isThinned` has become true: the caller then tells the person. */
  takeThinnedNotice(): boolean {
    if (!this.isThinned || this.#isThinnedTold) return false
    this.#isThinnedTold = true
    return true
  }

  /** When untrusted text first arrived; undefined if there was none. */
  get untrustedSince(): number | undefined {
    return this.#untrustedSince
  }

  /** Returns the source with its number. */
  add({ labels, source, server = source, value, at = Date.now() }: Arrival): string {
    if (labels.includes(UNTRUSTED)) this.#untrustedSince ??= at
    const numbered = `${source}#${++this.#arrivals}`
    for (const label of labels) {
      const sources = this.#from.get(label)
      if (sources && sources.length < MAX_SOURCES_A_LABEL) sources.push(numbered)
      else if (!sources && this.#from.size < MAX_LABELS) this.#from.set(label, [numbered])
    }
    if (labels.some(isPrivate)) this.#provenance.remember(numbered, value)
    else this.#others.remember(server, value)
    return numbered
  }

  /** Private sources of the arguments, the largest first. */
  originsOf(args: Readonly<Record<string, unknown>>): ArgumentOrigin[] {
    return this.#provenance.originsOf(args)
  }

  /** Whether the arguments repeat private text of any server, or other text that came from another server than this one. */
  hasTextOfOthers(server: string, args: Readonly<Record<string, unknown>>): boolean {
    return this.originsOf(args).length > 0 || this.#others.originsOf(args).some(({ source }) => source !== server)
  }
}

function checkRecord(record: unknown): string | undefined {
  if (!isObject(record)) return 'labels, arrivals and provenance'
  const { labels, untrustedSince, arrivals, provenance, others } = record
  const isLabel = (each: unknown): boolean => Array.isArray(each) && typeof each[0] === 'string' && isTexts(each[1])
  if (!Array.isArray(labels) || labels.length > MAX_LABELS || !labels.every(isLabel))
    return `labels: a list of at most ${MAX_LABELS} labels with their sources`
  if (untrustedSince !== undefined && !isCount(untrustedSince)) return 'untrustedSince: milliseconds since 1970, or nothing'
  if (!isCount(arrivals)) return 'arrivals: a number'
  const isWhole = isProvenance(provenance) && (others === undefined || isProvenance(others))
  return isWhole ? undefined : 'provenance and others: pieceLength, spacing, sources, and pieces with the places of their sources'
}

function isProvenance(value: unknown): boolean {
  if (!isObject(value)) return false
  const { pieceLength, spacing, sources, pieces } = value
  if (!isCount(pieceLength) || !isCount(spacing) || spacing === 0 || !isTexts(sources) || !Array.isArray(pieces)) return false
  return pieces.length % 2 === 0 && pieces.every((each, at) => isCount(each) && (at % 2 === 0 || each < sources.length))
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === 'string')

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
