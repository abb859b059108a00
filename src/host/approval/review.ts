/** Reviews the offering of a server. New and changed definitions stay in quarantine until the person approves them. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ActionRequest, RequestedAction } from '../consent/gate/gate.ts'
import { digestOf } from '../model/digest.ts'
import type { Offering } from '../model/offering.ts'
import type { ApprovedItem } from '../model/question.ts'
import type { Review } from '../model/review.ts'
import { keyOf } from './comparison.ts'
import type { OtherName } from './name-warnings.ts'
import { type Primitive, pinOf } from './pin.ts'
import { claimsReadOnly } from './read-only.ts'
import type { ReviewedServer, ReviewServices } from './reviewed-server.ts'
import { flagger } from './warnings.ts'

/** The definitions to approve now; undefined when everything is approved. */
export function reviewOf(server: ReviewedServer, parts: ReviewServices, others: readonly OtherName[]): Review | undefined {
  const found = pendingOf(server, parts)
  if (isNothing(server, found)) return undefined
  const flagsOf = flagger(others)
  return reviewWith(
    server,
    found,
    found.pending.map((each) => itemOf(found, each, flagsOf(each))),
  )
}

/** A review, and the digest of its definitions. */
export interface Shown {
  review: Review
  digest: string
}

/** Definitions examined in one turn of the event loop. A server may offer thousands. */
const ITEMS_A_TURN = 100

/** Like `reviewOf`, in parts, so that it does not block other work. */
export async function reviewInTurns(
  server: ReviewedServer,
  parts: ReviewServices,
  others: readonly OtherName[],
): Promise<Shown | undefined> {
  const found = pendingOf(server, parts)
  if (isNothing(server, found)) return undefined
  const flagsOf = flagger(others)
  const items: ApprovedItem[] = []
  for (const [at, each] of found.pending.entries()) {
    if (at > 0 && at % ITEMS_A_TURN === 0) await nextTurn()
    items.push(itemOf(found, each, flagsOf(each)))
  }
  return { review: reviewWith(server, found, items), digest: digestOfPending(found) }
}

const itemOf = ({ comparison }: Pending, primitive: Primitive, flags: string[]): ApprovedItem => ({
  kind: primitive.kind,
  name: primitive.name,
  definition: primitive.definition,
  difference: comparison.difference(primitive),
  flags,
})

const reviewWith = (server: ReviewedServer, { comparison, removed }: Pending, items: readonly ApprovedItem[]): Review => ({
  server: server.id,
  isFirst: comparison.isFirst,
  items,
  gone: removed.map(keyOf),
})

/** Identifies the definitions to approve. Undefined if everything is approved. */
export function reviewState(server: ReviewedServer, parts: ReviewServices): string | undefined {
  const found = pendingOf(server, parts)
  return isNothing(server, found) ? undefined : stateOf(server, digestOfPending(found))
}

/** Includes the fingerprint, because the same digest can also belong to another server. */
export const stateOf = ({ facts }: ReviewedServer, digest: string): string => `${facts.fingerprint} ${digest}`

export interface ApproveOptions {
  signal?: AbortSignal
  /** A review that exists already; used if it is still current. */
  known?: Shown | undefined
  /** The items are the part of a first offering that has warnings. Default: false. */
  isFirst?: boolean
  /** The kinds and names of the definitions to ask about. Default: all. */
  only?: ReadonlySet<string> | undefined
  /** Called with the review that the person sees. */
  onShown?(shown: Shown): void
}

/** Asks the person, and approves all definitions or those that they chose. True if skills are left, which the person is asked about alone. */
export async function approve(
  server: ReviewedServer,
  parts: ReviewServices,
  others: readonly OtherName[],
  { signal, known, isFirst = false, only, onShown }: ApproveOptions = {},
): Promise<boolean> {
  let chosen = only
  let readOnly: ReadonlySet<string> = new Set()
  const want: ActionRequest = {
    describe: () => approvalAction(server, parts, (name) => chosen?.has(name) ?? true),
    subject: async ({ primitive }) => {
      const shown = known?.digest === primitive?.pin ? known : await reviewInTurns(server, parts, others)
      // The answer must refer to the definitions in the question.
      if (shown && shown.digest !== primitive?.pin)
        throw new McpError('ERR_QUARANTINED', `The offering of ${server.id} changed while the question was prepared`)
      if (shown) onShown?.(shown)
      const items = (shown?.review.items ?? []).filter((item) => only?.has(keyOf(item)) ?? true)
      return { kind: 'approve', items, isFirst: isFirst || (shown?.review.isFirst ?? false), ...aboutItems(server, parts, items) }
    },
    server: server.shown,
    chain: ['you'],
    edit: (edited) => {
      const named = namesIn(edited, 'approved')
      chosen = named && only ? new Set([...named].filter((each) => only.has(each))) : (named ?? only)
      readOnly = namesIn(edited, 'readOnly') ?? readOnly
      if (!named && readOnly.size === 0)
        throw new McpError('ERR_INVALID_PARAMS', 'Expected { approved: [...] } with "kind name" of each approved definition')
    },
    ...(signal && { signal }),
  }
  const rest = only ? undefined : await exceptSkills(server, parts, want)
  chosen = rest ?? only
  await parts.gate.run(want, async () => {
    const { pending, removed } = pendingOf(server, parts)
    const agreed = pending.filter((primitive) => !chosen || chosen.has(keyOf(primitive)))
    await parts.pins.approve(server.facts, agreed, parts.wallNow())
    const accepted = agreed.filter((item) => item.kind === 'tool' && readOnly.has(keyOf(item)) && claimsReadOnly(item.definition))
    if (accepted.length > 0) await parts.pins.acceptReadOnly(server.id, accepted)
    if (removed.length > MAX_KEPT) await parts.pins.withdraw(server.id, removed.slice(0, -MAX_KEPT))
  })
  return rest !== undefined && reviewState(server, parts) !== undefined
}

/** Words matter here: a choice of the person must not look like an attack. Definitions that changed with it are called changed. */
function aboutItems(server: ReviewedServer, parts: ReviewServices, items: readonly ApprovedItem[]): { isNew?: true; revision?: string } {
  const added = new Set(pendingOf(server, parts).comparison.added.map(keyOf))
  const isNew = items.every((item) => added.has(keyOf(item)) && item.difference === undefined)
  const revision = items.every(({ kind }) => kind === 'capabilities') ? server.chosenRevision : undefined
  return { ...(isNew && { isNew }), ...(revision !== undefined && { revision }) }
}

/**
 * A rule can approve what a server offers, but not its skills: only a person can. If a rule approves the rest, these are the keys of the
 * rest. Undefined if the person is asked about everything together, or there are only skills, or none.
 */
async function exceptSkills(server: ReviewedServer, parts: ReviewServices, want: ActionRequest): Promise<ReadonlySet<string> | undefined> {
  const { pending } = pendingOf(server, parts)
  const rest = pending.filter(({ kind }) => kind !== 'skill')
  if (rest.length === 0 || rest.length === pending.length) return undefined
  const { decision } = await parts.gate.evaluate(want)
  return decision.effect === 'allow' ? new Set(rest.map(keyOf)) : undefined
}

/** The action of approving the pending definitions that `isChosen` accepts. */
export function approvalAction(server: ReviewedServer, parts: ReviewServices, isChosen: (name: string) => boolean): RequestedAction {
  const found = pendingOf(server, parts)
  return {
    kind: 'server.approve',
    run: parts.ownConversation.id,
    turn: 0,
    initiator: 'user',
    server: server.facts,
    // The digest covers all definitions: a change while the person reads voids the answer.
    primitive: { kind: 'capabilities', name: 'everything offered', pin: digestOfPending(found), state: 'unseen' },
    claimed: {},
    asserted: {},
    args: { items: found.pending.map(keyOf).filter(isChosen) },
    labels: [],
  }
}

interface Pending {
  pending: readonly Primitive[]
  removed: readonly Primitive[]
  comparison: ReturnType<ReviewServices['pins']['compare']>
  fingerprint: string
  /** The digest of all definitions; computed on first use. */
  digest?: string
}

/**
 * A definition that is no longer offered needs no approval. Servers offer less to clients that can do less. A server that is still
 * starting has not offered anything yet.
 */
const isNothing = ({ offering }: ReviewedServer, { pending }: Pending): boolean => offering === undefined || pending.length === 0

/** Approved definitions that a server does not offer now. Empty before it was listed for the first time. */
export const notOffered = (server: ReviewedServer, parts: ReviewServices): string[] =>
  server.offering ? pendingOf(server, parts).removed.map(keyOf) : []

/** Definitions that are not offered keep their approval, up to this number. The same definition is often offered again. */
const MAX_KEPT = 1_000

/** Cached by comparison, so that an offering is examined only once. */
const pendings = new WeakMap<object, Pending>()

function pendingOf(server: ReviewedServer, { pins }: ReviewServices): Pending {
  const { fingerprint } = server.facts
  const comparison = pins.compare(server.id, server.offering ?? EMPTY)
  const former = pendings.get(comparison)
  if (former?.fingerprint === fingerprint) return former
  const { added, changed, removed, unchanged } = comparison
  // Unchanged definitions of a changed server must be approved again too.
  const stale = unchanged.filter(({ kind, name }) => server.stateOf(kind, name) !== 'pinned')
  const found = { pending: [...added, ...changed, ...stale], removed, comparison, fingerprint }
  pendings.set(comparison, found)
  return found
}

/** Made of the digests of the definitions, which are cached. */
function digestOfPending(found: Pending): string {
  const digests = (items: readonly Primitive[]): unknown => items.map(({ kind, name, definition }) => [kind, name, pinOf(definition)])
  found.digest ??= digestOf(digests(found.pending))
  return found.digest
}

const EMPTY: Offering = {
  info: undefined,
  instructions: undefined,
  capabilities: {},
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
}

/**
 * Reads `{ approved: ['tool add', 'prompt review'], readOnly: ['tool add'] }`. What is not in `approved` stays in quarantine. What is in
 * `readOnly` is accepted as read-only, if it claims that.
 */
function namesIn(edited: unknown, member: 'approved' | 'readOnly'): ReadonlySet<string> | undefined {
  const names = isObject(edited) ? edited[member] : undefined
  if (names === undefined) return undefined
  if (!Array.isArray(names) || !names.every((each) => typeof each === 'string'))
    throw new McpError('ERR_INVALID_PARAMS', `Expected { ${member}: [...] } with "kind name" of each definition`)
  return new Set(names as string[])
}
