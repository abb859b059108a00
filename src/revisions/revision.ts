/**
 * A revision of the protocol as a value: its methods, its error codes, and the conversion of messages for peers that use
 * it. No code outside of this folder compares versions.
 */

import { ERRORS, type ErrorCode } from '../protocol/errors.ts'

export type Json = Record<string, unknown>

/** Converts a message to the previous revision. Returns the same object if there is nothing to change. */
export type Downgrade = (value: Json) => Json

/** Converts the result of an older peer to the newer revision. */
export type Upgrade = (answer: Json, question: Json) => Json

export interface RevisionFacts {
  /** How identity, questions, change notices and logging work. */
  dialect: 'session' | 'stateless'
  /** Batches of messages are allowed. */
  hasBatches: boolean
  /** An error about an unreadable message has no id. Otherwise its id is null, as JSON-RPC requires. */
  omitsUnreadableId: boolean
  /** Invalid tool arguments give a result that the model sees, not a protocol error. */
  reportsBadArgumentsInResult: boolean
  /** A server may answer with an error that asks for a page visit. */
  hasUrlElicitationError: boolean
  /** Completion needs no capability. */
  completesUnannounced: boolean
  /** Results may say how long they can be cached. */
  hasCaching: boolean
  /** An event stream starts with an event id, and the server may close it before the answer. */
  hasPolledStreams: boolean
  /** Both sides declare extensions among their capabilities. */
  hasExtensions: boolean
  /** How calls become tasks: the client asks for it in a call, or the server decides if the client has the extension. */
  tasks: 'requested' | 'extension' | undefined
}

export interface Revision extends RevisionFacts {
  version: string
  has(method: string): boolean
  errorCode(code: ErrorCode): number
  /** Converts outgoing params and results for a peer of this revision. */
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
  /** Removes the additions of this revision from messages, for peers of the previous revision. */
  downgrade?: { params?: Record<string, Downgrade>; results?: Record<string, Downgrade> }
  /** Converts results of the previous revision to this one, for example where `downgrade` changed the request. */
  upgrade?: { results?: Record<string, Upgrade> }
}

export interface Base extends Delta {
  facts: RevisionFacts
  adds: readonly string[]
}

/** Builds all revisions from the first one and the changes since, oldest first. */
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
  // Newest first: each step converts a message to the previous revision.
  const newestFirst = [...newer].reverse()
  const params = composeDowngrades(newestFirst.map(({ downgrade }) => downgrade?.params ?? {}))
  const results = composeDowngrades(newestFirst.map(({ downgrade }) => downgrade?.results ?? {}))
  const upgrades = composeUpgrades(newer.map(({ upgrade }) => upgrade?.results ?? {}))
  return {
    version,
    ...facts,
    has: (method) => methods.has(method),
    errorCode: (code) => errorCodes[code] ?? ERRORS[code].rpc,
    downgradeParams: (method, value) => params.get(method)?.(value) ?? value,
    downgradeResult: (method, value) => results.get(method)?.(value) ?? value,
    upgradeResult: (method, value, question) => upgrades.get(method)?.(value, question) ?? value,
  }
}

function composeDowngrades(steps: readonly Record<string, Downgrade>[]): Map<string, Downgrade> {
  const composed = new Map<string, Downgrade>()
  for (const step of steps) {
    for (const [method, downgrade] of Object.entries(step)) {
      const before = composed.get(method)
      composed.set(method, before ? (value) => downgrade(before(value)) : downgrade)
    }
  }
  return composed
}

function composeUpgrades(steps: readonly Record<string, Upgrade>[]): Map<string, Upgrade> {
  const composed = new Map<string, Upgrade>()
  for (const step of steps) {
    for (const [method, upgrade] of Object.entries(step)) {
      const before = composed.get(method)
      composed.set(method, before ? (answer, question) => upgrade(before(answer, question), question) : upgrade)
    }
  }
  return composed
}
