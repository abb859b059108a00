/**
 * Stores the approved definitions and the fingerprint of each server. A definition is `pinned` only if it equals the approved one byte
 * for byte; otherwise it is `changed`.
 */

import { counted } from '../../base/text/counted.ts'
import { visibleText } from '../../base/text/visible-text.ts'
import type { FileFormat } from '../../files/file-format.ts'
import { type JsonSnapshot, memorySnapshot, openSnapshot } from '../../files/json-snapshot.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { McpError } from '../../protocol/errors.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { PinState } from '../model/action.ts'
import { digestOf } from '../model/digest.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'
import type { Fingerprint, FingerprintPart } from '../server-command/fingerprint.ts'
import { type Baseline, checkBaselines } from './approved-definitions.ts'
import { type Comparison, compareWith, keyOf } from './comparison.ts'
import { PINNED_KINDS, type Primitive, pinOf, primitivesOf } from './pin.ts'

export interface PinLimits {
  maxServers: number
  /** Maximum number of approved definitions of one server. */
  maxItems: number
  /** Maximum size of one definition as JSON. */
  maxDefinitionBytes: number
  /** Maximum size of the file. */
  maxBytes: number
}

export const DEFAULT_PIN_LIMITS: PinLimits = {
  maxServers: 1000,
  maxItems: 10_000,
  maxDefinitionBytes: 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
}

export interface PinStoreOptions {
  /** File shared by all processes that name it. Default: in memory. */
  file?: string
  limits?: Partial<PinLimits>
}

/** A server as it is now: its name in the configuration, and its fingerprint. */
export interface PinnedServer {
  id: string
  fingerprint: string
}

export interface PinStore {
  /** Reads the file again, which another process may have changed. Await it before a decision. */
  refresh(): Promise<void>
  /** The state at the last refresh. */
  stateOf(server: PinnedServer, kind: PrimitiveKind, name: string, definition: unknown): PinState
  /** For the moment before a call is sent. @throws McpError ERR_QUARANTINED unless the definition is approved */
  check(server: PinnedServer, kind: PrimitiveKind, name: string, definition: unknown): void
  /**
   * Compares an offering with the approved definitions, as of the last refresh. Returns the same object until one of them changes.
   * `isFirst`: nothing was ever approved.
   */
  compare(server: string, surface: Offering): Comparison & { isFirst: boolean }
  /** The fingerprint of the server when its start or connection was last approved. */
  adopted(server: string): Fingerprint | undefined
  /**
   * Stores a newly approved fingerprint. Approved definitions stay approved if they are unchanged. With `isAlone` nothing of another
   * fingerprint stays.
   */
  adopt(server: string, now: Fingerprint, isAlone?: boolean): Promise<void>
  /**
   * Notes that the server has listed its offering. True for the first one of this fingerprint, if nothing was ever approved. `enabling`:
   * the offering, if it is to be taken into use. Then it is also true for other processes that see the same one, until `approve` or
   * `notEnabled`.
   */
  offered(server: PinnedServer, at: number, enabling?: Offering): Promise<boolean>
  /** The first offering is not taken into use: the person is asked about it. */
  notEnabled(server: string): Promise<void>
  /** Approves these definitions. */
  approve(server: PinnedServer, items: readonly Primitive[], at: number): Promise<void>
  /** Whether the person believes that this tool only reads. Not for another fingerprint, and not for a changed definition. */
  isReadOnly(server: PinnedServer, tool: string, definition: unknown): boolean
  /** Accepts these tools as read-only, or with `isRevoked` takes that back. */
  acceptReadOnly(server: string, tools: readonly Pick<Primitive, 'name' | 'definition'>[], isRevoked?: boolean): Promise<void>
  /** Removes the approval of these definitions. */
  withdraw(server: string, items: readonly Pick<Primitive, 'kind' | 'name'>[]): Promise<void>
  /** Removes everything about a server. False when nothing was stored. */
  forget(server: string): Promise<boolean>
  list(): readonly Baseline[]
}

type Baselines = readonly Baseline[]

/** Files without a version are a list of servers. */
const PINS_FORMAT: FileFormat = { version: 1, member: 'servers', upgrades: [(servers) => servers] }

/**
 * Opens the approved definitions of servers. Host processes can share the file. Default: in memory.
 *
 * @example
 * const pins = await openPins({ file: join(hostFolder(), STORAGE_PATHS.pins) })
 * for (const { server } of pins.list()) console.log(server)
 */
export async function openPins({ file, limits }: PinStoreOptions = {}): Promise<PinStore> {
  const bounds = withDefaults(DEFAULT_PIN_LIMITS, limits)
  const store: JsonSnapshot<Baselines> =
    file === undefined
      ? memorySnapshot<Baselines>([])
      : await openSnapshot(
          sharedJson<Baselines>(file, { empty: [], format: PINS_FORMAT, check: checkBaselines, maxBytes: bounds.maxBytes }),
        )
  const index = indexed(() => store.current)
  /** Cached, so that an offering is compared only once. */
  const compared = new WeakMap<Offering, { baseline: Baseline | undefined; comparison: ReturnType<PinStore['compare']> }>()

  const stateOf: PinStore['stateOf'] = (server, kind, name, definition) => {
    const known = index().get(server.id)
    if (!known || known.baseline.approvedAt === undefined) return 'unseen'
    if (known.baseline.fingerprint !== server.fingerprint) return 'changed'
    if (!PINNED_KINDS.has(kind)) return 'pinned'
    const pin = known.pins.get(keyOf({ kind, name }))
    if (pin === undefined) return 'new'
    // A definition that is no longer offered counts as changed.
    return definition !== undefined && pin === pinOf(definition) ? 'pinned' : 'changed'
  }

  const change = async (id: string, make: (baseline: Baseline | undefined) => Baseline | undefined): Promise<void> => {
    await store.update((baselines) => {
      const next = make(baselines.find((each) => each.server === id))
      const others = baselines.filter((each) => each.server !== id)
      if (next && others.length >= bounds.maxServers)
        throw new McpError(
          'ERR_LIMIT',
          `${counted(others.length, 'server is', 'servers are')} stored already (maxServers); forget some first`,
        )
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
    adopt: async (id, { fingerprint, parts }, isAlone = false) => {
      const known = (await store.refresh()).find(({ server }) => server === id)
      // The parts are compared too: some of them, such as the folder, are not in the fingerprint.
      if (known?.fingerprint === fingerprint && digestOf(known.parts) === digestOf(parts)) return
      await change(id, (baseline) => {
        const isSame = baseline?.fingerprint === fingerprint
        const former = isSame || !isAlone ? baseline : undefined
        const { offeredAt, enabling, readOnly, ...rest } = former ?? { server: id, items: [] }
        return {
          ...rest,
          ...(isSame && offeredAt !== undefined && { offeredAt }),
          ...(isSame && enabling !== undefined && { enabling }),
          ...(isSame && readOnly && { readOnly }),
          fingerprint,
          parts,
        }
      })
    },
    offered: async ({ id, fingerprint }, at, offering) => {
      const enabling = offering && digestOf(primitivesOf(offering))
      const isFirst = (baseline: Baseline | undefined): baseline is Baseline =>
        baseline?.fingerprint === fingerprint &&
        baseline.approvedAt === undefined &&
        (baseline.offeredAt === undefined || (enabling !== undefined && baseline.enabling === enabling))
      if (!isFirst((await store.refresh()).find(({ server }) => server === id))) return false
      let isOurs = false
      await change(id, (baseline) => {
        // Two processes may have read the same state, with different offerings. Only the first one to write gets true.
        isOurs = isFirst(baseline)
        return isFirst(baseline) ? { ...baseline, offeredAt: at, ...(enabling !== undefined && { enabling }) } : baseline
      })
      return isOurs
    },
    notEnabled: (id) =>
      change(id, (baseline) => {
        if (!baseline) return undefined
        const { enabling, ...rest } = baseline
        return rest
      }),
    approve: async ({ id, fingerprint }, items, at) => {
      for (const item of items) checkSize(item, bounds)
      await change(id, (baseline) => withApproved(baseline, { id, fingerprint }, items, at, bounds))
    },
    isReadOnly: (server, tool, definition) => {
      const baseline = index().get(server.id)?.baseline
      if (baseline?.fingerprint !== server.fingerprint || definition === undefined) return false
      return baseline.readOnly?.some(({ name, pin }) => name === tool && pin === pinOf(definition)) ?? false
    },
    acceptReadOnly: (id, tools, isRevoked = false) => {
      const names = new Set(tools.map(({ name }) => name))
      const added = isRevoked ? [] : tools.map(({ name, definition }) => ({ name, pin: pinOf(definition) }))
      return change(
        id,
        (baseline) =>
          baseline && { ...baseline, readOnly: [...(baseline.readOnly ?? []).filter(({ name }) => !names.has(name)), ...added] },
      )
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
  unseen: 'Nothing of this server has been approved yet',
  new: 'Added after the server was approved, and not approved itself',
  changed: 'Changed since it was approved',
}

interface Known {
  baseline: Baseline
  /** Digests by kind and name. */
  pins: ReadonlyMap<string, string>
}

/** Built once for each state of the document, because every call uses it. */
function indexed(current: () => Baselines): () => ReadonlyMap<string, Known> {
  let of: Baselines | undefined
  let index: ReadonlyMap<string, Known> = new Map()
  return () => {
    if (current() === of) return index
    of = current()
    // Computed from the definitions, not stored, so that the two cannot disagree.
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
  // The person reviewed definitions of the current server, whose fingerprint must be approved first.
  if (baseline && baseline.fingerprint !== server.fingerprint)
    throw new McpError('ERR_QUARANTINED', `${server.id} is not the server that was approved; approve its start first`)
  const merged = new Map((baseline?.items ?? []).map((item) => [keyOf(item), item]))
  for (const item of items) if (PINNED_KINDS.has(item.kind)) merged.set(keyOf(item), item)
  if (merged.size > maxItems)
    throw new McpError('ERR_LIMIT', `${server.id} offers ${merged.size} definitions; the limit is ${maxItems} (maxItems)`)
  const parts: readonly FingerprintPart[] = baseline?.parts ?? []
  const { enabling, ...former } = baseline ?? {}
  return { ...former, server: server.id, fingerprint: server.fingerprint, parts, approvedAt: at, items: [...merged.values()] }
}

function checkSize({ kind, name, definition }: Primitive, { maxDefinitionBytes }: PinLimits): void {
  const bytes = Buffer.byteLength(JSON.stringify(definition))
  if (bytes > maxDefinitionBytes)
    throw new McpError(
      'ERR_LIMIT',
      `The definition of ${kind} ${visibleText(name)} has ${bytes} bytes; the limit is ${maxDefinitionBytes} (maxDefinitionBytes)`,
    )
}
