/**
 * Taking into use what a server offers. Before that nothing of it reaches a model, and whatever is new or has changed since
 * waits in quarantine until somebody has looked at it.
 */

import { isObject } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { ApprovedItem } from './ask/question.ts'
import { digestOf } from './digest.ts'
import type { Want } from './gate/gate.ts'
import type { HostedServer } from './hosted-server.ts'
import type { HostParts } from './parts.ts'
import { type Comparison, keyOf } from './pins/comparison.ts'
import { flagger, type OtherName } from './pins/flags.ts'
import type { Primitive } from './pins/pin.ts'
import type { Surface } from './servers/surface.ts'

export interface Review {
  server: string
  /** Nothing of the server was ever approved. */
  isFirst: boolean
  /** What is not in use: new, changed, or under another name. */
  items: readonly ApprovedItem[]
  /** What was approved and is not offered any more. */
  gone: readonly string[]
}

/** What somebody would have to look at now; undefined when everything is as it was approved. */
export function reviewOf(server: HostedServer, parts: HostParts, others: readonly OtherName[]): Review | undefined {
  const { pending, removed, isFirst, differences } = pendingOf(server, parts)
  if (pending.length === 0 && removed.length === 0) return undefined
  const flagsOf = flagger(others)
  const items = pending.map((primitive): ApprovedItem => {
    const { kind, name, definition } = primitive
    const difference = differences.find((each) => each.kind === kind && each.name === name)
    return { kind, name, definition, difference, flags: flagsOf(primitive) }
  })
  return { server: server.id, isFirst, items, gone: removed.map(keyOf) }
}

export interface ApproveOptions {
  signal?: AbortSignal
  /** Hears what the person is shown. */
  onShown?(review: Review): void
}

/** Asks about it, and takes into use what the person agreed to: all of it, or what they chose. */
export async function approve(
  server: HostedServer,
  parts: HostParts,
  others: readonly OtherName[],
  { signal, onShown }: ApproveOptions = {},
): Promise<void> {
  let chosen: ReadonlySet<string> | undefined
  const want: Want = {
    describe: () => {
      const { pending, removed } = pendingOf(server, parts)
      const names = pending.map(keyOf)
      return {
        kind: 'server.approve',
        run: parts.run.id,
        turn: 0,
        initiator: 'user',
        server: server.facts,
        // The digest is that of all definitions at once: one that changes while the person reads voids the answer.
        primitive: { kind: 'capabilities', name: 'everything offered', pin: digestOf([pending, removed]), state: 'unseen' },
        claimed: {},
        asserted: {},
        args: { items: chosen ? names.filter((name) => chosen?.has(name)) : names },
        labels: [],
      }
    },
    subject: () => {
      const review = reviewOf(server, parts, others)
      if (review) onShown?.(review)
      return { kind: 'approve', items: review?.items ?? [], isFirst: review?.isFirst ?? false }
    },
    server: server.shown,
    chain: ['you'],
    edit: (edited) => {
      chosen = chosenOf(edited)
    },
    ...(signal && { signal }),
  }
  await parts.gate.run(want, async () => {
    const { pending, removed } = pendingOf(server, parts)
    const agreed = pending.filter((primitive) => !chosen || chosen.has(keyOf(primitive)))
    await parts.pins.approve(server.facts, agreed, parts.wallNow())
    if (removed.length > 0) await parts.pins.withdraw(server.id, removed)
  })
}

interface Pending extends Pick<Comparison, 'removed' | 'differences'> {
  pending: readonly Primitive[]
  isFirst: boolean
}

function pendingOf(server: HostedServer, { pins }: HostParts): Pending {
  const surface = server.supervised.listing?.surface ?? EMPTY
  const { added, differences, removed, unchanged, isFirst } = pins.compare(server.id, surface)
  // What is as it was approved, of a server that is not what it was, has to be looked at again as well.
  const stale = unchanged.filter(({ kind, name }) => server.stateOf(kind, name) !== 'pinned')
  const changed = differences.flatMap(({ kind, name, class: changeClass }) => {
    const definition = changeClass === 'removed' ? undefined : server.definition(kind, name)
    return definition === undefined || added.some((each) => each.kind === kind && each.name === name) ? [] : [{ kind, name, definition }]
  })
  return { pending: [...added, ...changed, ...stale], removed, isFirst, differences }
}

const EMPTY: Surface = {
  info: undefined,
  instructions: undefined,
  capabilities: {},
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
}

/** `{ approved: ['tool add', 'prompt review'] }`: the others stay in quarantine. */
function chosenOf(edited: unknown): ReadonlySet<string> {
  const { approved } = isObject(edited) ? edited : {}
  if (!Array.isArray(approved) || !approved.every((each) => typeof each === 'string'))
    throw new McpError('ERR_INVALID_PARAMS', 'Expected { approved: [...] } with "kind name" of everything that is agreed to')
  return new Set(approved as string[])
}
