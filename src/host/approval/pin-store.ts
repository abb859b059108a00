/**
 * What people have approved of each server, whole, and what each server was then. Only what is exactly as it was approved is
 * `pinned`; a change of one byte makes it `changed`, whoever makes it and wherever: here, in another process, or at the server.
 */

import { visibleText } from '../../base/text/visible-text.ts'
import { type JsonSnapshot, memorySnapshot, openSnapshot } from '../../files/json-snapshot.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { Fingerprint, FingerprintPart } from '../launch/fingerprint.ts'
import type { PinState } from '../model/action.ts'
import { digestOf } from '../model/digest.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'
import { type Baseline, checkBaselines } from './baseline.ts'
import { type Comparison, compareWith, keyOf } from './comparison.ts'
import { PINNED_KINDS, type Primitive, pinOf, primitivesOf } from './pin.ts'

export interface PinLimits {
  maxServers: number
  /** Approved definitions of one server. */
  maxItems: number
  /** One definition, written as JSON. */
  maxDefinitionBytes: number
  /** The file as a whole. */
  maxBytes: number
}

export const DEFAULT_PIN_LIMITS: PinLimits = {
  maxServers: 1000,
  maxItems: 10_000,
  maxDefinitionBytes: 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
}

export interface PinStoreOptions {
  /** For every process that names the same file. In memory without it. */
  file?: string
  limits?: Partial<PinLimits>
}

/** A server as it is now: its name in the configuration, and what it is. */
export interface PinnedServer {
  id: string
  fingerprint: string
}

export interface PinStore {
  /** Looks at the file, which another process may have changed. To be awaited before what is decided next. */
  refresh(): Promise<void>
  /** As of the last refresh, so that it can be asked in the middle of anything. */
  stateOf(server: PinnedServer, kind: PrimitiveKind, name: string, definition: unknown): PinState
  /** @throws McpError ERR_QUARANTINED unless it is as it was approved. For the moment before a call is sent. */
  check(server: PinnedServer, kind: PrimitiveKind, name: string, definition: unknown): void
  /** What is offered now against what was approved, as of the last refresh. `isFirst` when nothing ever was. The same object until one of the two changes. */
  compare(server: string, surface: Offering): Comparison & { isFirst: boolean }
  /** What the server was when somebody last agreed to start or reach it. */
  adopted(server: string): Fingerprint | undefined
  /** Somebody has agreed to what the server is now. What was approved of it before stays so, if it still is the same. */
  adopt(server: string, now: Fingerprint): Promise<void>
  /** Takes these into use, as they are here. */
  approve(server: PinnedServer, items: readonly Primitive[], at: number): Promise<void>
  /** Takes back what was approved of these; what is gone from the server is dropped in the same way. */
  withdraw(server: string, items: readonly Pick<Primitive, 'kind' | 'name'>[]): Promise<void>
  /** Whether there was anything to forget. */
  forget(server: string): Promise<boolean>
  list(): readonly Baseline[]
}

type Baselines = readonly Baseline[]

export async function openPins({ file, limits }: PinStoreOptions = {}): Promise<PinStore> {
  const bounds = withDefaults(DEFAULT_PIN_LIMITS, limits)
  const store: JsonSnapshot<Baselines> =
    file === undefined
      ? memorySnapshot<Baselines>([])
      : await openSnapshot(sharedJson<Baselines>(file, { empty: [], check: checkBaselines, maxBytes: bounds.maxBytes }))
  const index = indexed(() => store.current)
  /** What a server lists is compared once, however often it is decided about. */
  const compared = new WeakMap<Offering, { baseline: Baseline | undefined; comparison: ReturnType<PinStore['compare']> }>()

  const stateOf: PinStore['stateOf'] = (server, kind, name, definition) => {
    const known = index().get(server.id)
    if (!known || known.baseline.approvedAt === undefined) return 'unseen'
    if (known.baseline.fingerprint !== server.fingerprint) return 'changed'
    if (!PINNED_KINDS.has(kind)) return 'pinned'
    const pin = known.pins.get(keyOf({ kind, name }))
    if (pin === undefined) return 'new'
    // What is not offered any more is not what was approved either.
    return definition !== undefined && pin === pinOf(definition) ? 'pinned' : 'changed'
  }

  const change = async (id: string, make: (baseline: Baseline | undefined) => Baseline | undefined): Promise<void> => {
    await store.update((baselines) => {
      const next = make(baselines.find((each) => each.server === id))
      const others = baselines.filter((each) => each.server !== id)
      if (next && others.length >= bounds.maxServers)
        throw new McpError('ERR_LIMIT', `${others.length} servers are known already, as many as may be (maxServers); forget some first`)
      return next ? [...others, next] : others
    })
  }

  return {
    refresh: async () => void (await store.refresh()),
    stateOf,
    check: (server, kind, name, definition) => {
      const state = stateOf(server, kind, name, definition)
      if (state === 'pinned') return
      throw new McpError('ERR_QUARANTINED', `${REFUSED[state]}: ${kind} ${visibleText(name)} of ${server.id}`, {
        data: { server: server.id, kind, name, state },
      })
    },
    compare: (id, surface) => {
      const baseline = index().get(id)?.baseline
      const known = compared.get(surface)
      if (known && known.baseline === baseline) return known.comparison
      const comparison = Object.assign(compareWith(baseline?.items ?? [], primitivesOf(surface)), {
        isFirst: baseline?.approvedAt === undefined,
      })
      compared.set(surface, { baseline, comparison })
      return comparison
    },
    adopted: (id) => {
      const baseline = index().get(id)?.baseline
      return baseline && { fingerprint: baseline.fingerprint, parts: baseline.parts, warnings: [] }
    },
    adopt: async (id, { fingerprint, parts }) => {
      const known = (await store.refresh()).find(({ server }) => server === id)
      // Parts that do not count, such as the folder, are kept as they were when somebody agreed last.
      if (known?.fingerprint === fingerprint && digestOf(known.parts) === digestOf(parts)) return
      await change(id, (baseline) => ({ server: id, items: [], ...baseline, fingerprint, parts }))
    },
    approve: async ({ id, fingerprint }, items, at) => {
      for (const item of items) checkSize(item, bounds)
      await change(id, (baseline) => withApproved(baseline, { id, fingerprint }, items, at, bounds))
    },
    withdraw: (id, items) => {
      const gone = new Set(items.map(keyOf))
      return change(id, (baseline) => baseline && { ...baseline, items: baseline.items.filter((item) => !gone.has(keyOf(item))) })
    },
    forget: async (id) => {
      if (!(await store.refresh()).some(({ server }) => server === id)) return false
      await change(id, () => undefined)
      return true
    },
    list: () => store.current,
  }
}

const REFUSED: Readonly<Record<Exclude<PinState, 'pinned'>, string>> = {
  unseen: 'Nobody has approved anything of this server yet',
  new: 'This came after the server was approved, and nobody has approved it',
  changed: 'This is not what was approved',
}

interface Known {
  baseline: Baseline
  /** Digests by kind and name. */
  pins: ReadonlyMap<string, string>
}

/** Made once for each state of the document: it is asked for with every call. */
function indexed(current: () => Baselines): () => ReadonlyMap<string, Known> {
  let of: Baselines | undefined
  let index: ReadonlyMap<string, Known> = new Map()
  return () => {
    if (current() === of) return index
    of = current()
    // Taken of the definitions and not kept beside them, so that the two cannot disagree.
    index = new Map(
      of.map((baseline) => [
        baseline.server,
        { baseline, pins: new Map(baseline.items.map((item) => [keyOf(item), pinOf(item.definition)])) },
      ]),
    )
    return index
  }
}

function withApproved(
  baseline: Baseline | undefined,
  server: PinnedServer,
  items: readonly Primitive[],
  at: number,
  { maxItems }: PinLimits,
): Baseline {
  // What a person looked at came from the server as it is now; what they approved earlier did not.
  if (baseline && baseline.fingerprint !== server.fingerprint)
    throw new McpError('ERR_QUARANTINED', `${server.id} is not the server that was agreed to; agree to that first`)
  const merged = new Map((baseline?.items ?? []).map((item) => [keyOf(item), item]))
  for (const item of items) if (PINNED_KINDS.has(item.kind)) merged.set(keyOf(item), item)
  if (merged.size > maxItems) throw new McpError('ERR_LIMIT', `${server.id} offers ${merged.size} things, more than ${maxItems} (maxItems)`)
  const parts: readonly FingerprintPart[] = baseline?.parts ?? []
  return { server: server.id, fingerprint: server.fingerprint, parts, approvedAt: at, items: [...merged.values()] }
}

function checkSize({ kind, name, definition }: Primitive, { maxDefinitionBytes }: PinLimits): void {
  const bytes = Buffer.byteLength(JSON.stringify(definition))
  if (bytes > maxDefinitionBytes)
    throw new McpError(
      'ERR_LIMIT',
      `The definition of ${kind} ${visibleText(name)} has ${bytes} bytes, more than ${maxDefinitionBytes} (maxDefinitionBytes)`,
    )
}
