/**
 * A revision of the protocol as a value: which methods exist, which error codes, and how the neutral model's
 * messages must look to a peer that speaks it. Nothing outside this folder compares versions.
 */

import { ERRORS, type ErrorCode } from '../protocol/errors.ts'

export type Json = Record<string, unknown>

/** Takes a message apart that is too new for a peer; may return the same object when nothing needs to go. */
export type Downgrade = (value: Json) => Json

/** Brings an answer from an older peer up to the question as it was meant. */
export type Upgrade = (answer: Json, question: Json) => Json

export interface RevisionFacts {
  /** How caller, questions, changes and logging work. */
  dialect: 'session' | 'stateless'
  /** A message may be an array of messages. */
  hasBatches: boolean
  /** An error about an unreadable message leaves the id out; before that it is null, as JSON-RPC says. */
  omitsUnreadableId: boolean
  /** Arguments that do not fit a tool's schema are a result the model sees, not a protocol error. */
  reportsBadArgumentsInResult: boolean
  /** A server may answer that a page must be visited first. */
  hasUrlElicitationError: boolean
  /** Completion exists without a capability to announce it. */
  completesUnannounced: boolean
  /** A result may say how long it can be kept. */
  hasCaching: boolean
  /** A stream of events begins with a mark to come back to, and may be broken off before its answer. */
  hasPolledStreams: boolean
}

export interface Revision extends RevisionFacts {
  version: string
  has(method: string): boolean
  errorCode(code: ErrorCode): number
  /** What of outgoing params or results a peer of this revision can take. */
  downgradeParams(method: string, params: Json): Json
  downgradeResult(method: string, result: Json): Json
  upgradeResult(method: string, result: Json, params: Json): Json
}

export interface Delta {
  version: string
  facts?: Partial<RevisionFacts>
  adds?: readonly string[]
  removes?: readonly string[]
  errorCodes?: Partial<Record<ErrorCode, number>>
  /** What this revision brought into existing messages, taken back for a peer that speaks the one before. */
  downgrade?: { params?: Record<string, Downgrade>; results?: Record<string, Downgrade> }
  /** How what was taken back is put into an answer again. */
  upgrade?: { results?: Record<string, Upgrade> }
}

export interface Base extends Delta {
  facts: RevisionFacts
  adds: readonly string[]
}

/** Turns a first revision and the changes since into one value a revision, oldest first. */
export function line(base: Base, ...deltas: Delta[]): Revision[] {
  const all: Delta[] = [base, ...deltas]
  let facts = base.facts
  const methods = new Set<string>()
  const errorCodes: Partial<Record<ErrorCode, number>> = {}
  return all.map((delta, i) => {
    facts = { ...facts, ...delta.facts }
    for (const method of delta.adds ?? []) methods.add(method)
    for (const method of delta.removes ?? []) methods.delete(method)
    Object.assign(errorCodes, delta.errorCodes)
    return revision(delta.version, facts, new Set(methods), { ...errorCodes }, all.slice(i + 1))
  })
}

function revision(
  version: string,
  facts: RevisionFacts,
  methods: ReadonlySet<string>,
  errorCodes: Partial<Record<ErrorCode, number>>,
  newer: readonly Delta[],
): Revision {
  // Newest first: each step hands the next one a message of its own revision.
  const undone = [...newer].reverse()
  const params = composeFits(undone.map(({ downgrade: undo }) => undo?.params ?? {}))
  const results = composeFits(undone.map(({ downgrade: undo }) => undo?.results ?? {}))
  const mends = composeMends(newer.map(({ upgrade: redo }) => redo?.results ?? {}))
  return {
    version,
    ...facts,
    has: (method) => methods.has(method),
    errorCode: (code) => errorCodes[code] ?? ERRORS[code].rpc,
    downgradeParams: (method, value) => params.get(method)?.(value) ?? value,
    downgradeResult: (method, value) => results.get(method)?.(value) ?? value,
    upgradeResult: (method, value, question) => mends.get(method)?.(value, question) ?? value,
  }
}

function composeFits(steps: readonly Record<string, Downgrade>[]): Map<string, Downgrade> {
  const composed = new Map<string, Downgrade>()
  for (const fits of steps) {
    for (const [method, fit] of Object.entries(fits)) {
      const before = composed.get(method)
      composed.set(method, before ? (value) => fit(before(value)) : fit)
    }
  }
  return composed
}

function composeMends(steps: readonly Record<string, Upgrade>[]): Map<string, Upgrade> {
  const composed = new Map<string, Upgrade>()
  for (const mends of steps) {
    for (const [method, mend] of Object.entries(mends)) {
      const before = composed.get(method)
      composed.set(method, before ? (answer, question) => mend(before(answer, question), question) : mend)
    }
  }
  return composed
}
