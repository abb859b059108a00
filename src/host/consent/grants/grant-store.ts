/** Stores grants: until they expire, are revoked or are used up. */

import { isObject } from '../../../base/json.ts'
import { counted } from '../../../base/text/counted.ts'
import type { FileFormat } from '../../../files/file-format.ts'
import { type JsonSnapshot, memorySnapshot, openSnapshot } from '../../../files/json-snapshot.ts'
import { sharedJson } from '../../../files/shared-json.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { ACTION_KINDS, type ActionKind } from '../../model/action.ts'
import { GRANT_SCOPES, type Grant } from '../../model/grant.ts'

export interface GrantLimits {
  /** Maximum number of stored grants, and separately of grants that end with this process. */
  maxGrants: number
  /** Maximum size of one grant as JSON. */
  maxGrantBytes: number
}

export const DEFAULT_GRANT_LIMITS: GrantLimits = { maxGrants: 2000, maxGrantBytes: 64 * 1024 }

export interface GrantStoreOptions {
  /** File for `project` and `always` grants, shared by all processes that name it. Default: in memory. */
  file?: string
  limits?: Partial<GrantLimits>
}

/** The current fingerprints and pins. Undefined for what is unknown at the moment, such as those of a stopped server. */
export interface Present {
  fingerprintOf(server: string): string | undefined
  pinOf(server: string, action: ActionKind, primitive: string): string | undefined
}

/** Selects grants whose members equal all the given ones. An empty filter selects every grant. */
export interface GrantFilter {
  server?: string
  primitive?: string
  principal?: string
  run?: string
  project?: string
}

/** The grants of a host. `openGrants` opens it. */
export interface GrantStore {
  /** Grants that have not expired and have uses left. */
  live(now: number): Promise<readonly Grant[]>
  /** All stored grants, expired or not. */
  list(): Promise<readonly Grant[]>
  /** Adds a grant. */
  add(grant: Grant): Promise<void>
  /** Takes one use. False when no use is left, or the grant expired or was revoked since it was looked up. */
  use(id: string, now: number): Promise<boolean>
  /** Returns the number of revoked grants. */
  revoke(which: string | GrantFilter): Promise<number>
  /** Removes the grants of earlier turns. */
  endTurn(run: string, nextTurn: number): Promise<void>
  /** Removes the grants of a conversation. */
  endRun(run: string): Promise<void>
  /** Removes expired grants, and grants for former fingerprints and definitions. Returns their number. */
  sweep(now: number, present?: Present): Promise<number>
}

type Grants = readonly Grant[]

/** Only grants that outlive a conversation are stored. */
const isKept = ({ scope }: Grant): boolean => scope === 'project' || scope === 'always'

/**
 * Opens the grants of a host, to list or revoke them.
 *
 * @example
 * const grants = await openGrants({ file: join(hostFolder(), STORAGE_PATHS.grants) })
 * await grants.revoke({ server: 'notes' })
 */
export async function openGrants({ file, limits }: GrantStoreOptions = {}): Promise<GrantStore> {
  const bounds = withDefaults(DEFAULT_GRANT_LIMITS, limits)
  const passing = memorySnapshot<Grants>([])
  const kept: JsonSnapshot<Grants> =
    file === undefined
      ? memorySnapshot<Grants>([])
      : await openSnapshot(sharedJson<Grants>(file, { empty: [], format: GRANTS_FORMAT, check: checkGrants, maxBytes: MAX_FILE_BYTES }))

  const list = async (): Promise<Grants> => [...passing.current, ...(await kept.refresh())]

  /** Writes only if something changes, so that other processes need not read the file again. */
  const removeWhere = async (isMeant: (grant: Grant) => boolean): Promise<number> => {
    let count = 0
    for (const store of [passing, kept]) {
      if (!(await store.refresh()).some(isMeant)) continue
      await store.update((grants) => {
        const rest = grants.filter((grant) => !isMeant(grant))
        count += grants.length - rest.length
        return rest
      })
    }
    return count
  }

  return {
    list,
    live: async (now) => (await list()).filter((grant) => isLive(grant, now)),
    add: async (grant) => {
      checkSize(grant, bounds)
      // A grant with the scope `once` has one use, whatever it says.
      const added = grant.scope === 'once' ? { ...grant, usesLeft: 1 } : grant
      await (isKept(grant) ? kept : passing).update((grants) => withAdded(grants, added, bounds))
    },
    use: async (id, now) => {
      const store = passing.current.some((grant) => grant.id === id) ? passing : kept
      const found = (await store.refresh()).find((grant) => grant.id === id)
      if (!found || !isLive(found, now)) return false
      if (found.usesLeft === undefined) return true
      let isTaken = false
      await store.update((grants) => {
        const [next, isOurs] = withUse(grants, id, now)
        isTaken = isOurs
        return next
      })
      return isTaken
    },
    revoke: (which) => removeWhere(typeof which === 'string' ? ({ id }) => id === which : (grant) => isMeantBy(which, grant)),
    endTurn: async (run, nextTurn) => {
      await passing.update((grants) =>
        grants.filter(({ scope, bind }) => scope !== 'turn' || bind.run !== run || (bind.turn ?? 0) >= nextTurn),
      )
    },
    endRun: async (run) => {
      await passing.update((grants) => grants.filter(({ bind }) => bind.run !== run))
    },
    sweep: (now, present) => removeWhere((grant) => !isLive(grant, now) || isVoid(grant, present)),
  }
}

const isLive = ({ expiresAt, usesLeft }: Grant, now: number): boolean =>
  (expiresAt === undefined || now < expiresAt) && (usesLeft === undefined || usesLeft > 0)

/** A grant for a former fingerprint or pin matches nothing any more. */
function isVoid({ action, bind }: Grant, present: Present | undefined): boolean {
  const fingerprint = present?.fingerprintOf(bind.server)
  if (fingerprint !== undefined && fingerprint !== bind.fingerprint) return true
  const pin = bind.primitive === undefined || bind.pin === undefined ? undefined : present?.pinOf(bind.server, action, bind.primitive)
  return pin !== undefined && pin !== bind.pin
}

/** The last use removes the grant. */
function withUse(grants: Grants, id: string, now: number): [Grants, boolean] {
  const grant = grants.find((each) => each.id === id)
  if (!grant || !isLive(grant, now)) return [grants, false]
  if (grant.usesLeft === undefined) return [grants, true]
  const used = { ...grant, usesLeft: grant.usesLeft - 1 }
  return [used.usesLeft > 0 ? grants.map((each) => (each === grant ? used : each)) : grants.filter((each) => each !== grant), true]
}

function withAdded(grants: Grants, added: Grant, { maxGrants }: GrantLimits): Grants {
  if (grants.some(({ id }) => id === added.id)) throw new McpError('ERR_STORE', `Grant ${added.id} already exists`)
  if (grants.length < maxGrants) return [...grants, added]
  const live = grants.filter((grant) => isLive(grant, added.at))
  if (live.length < maxGrants) return [...live, added]
  throw new McpError('ERR_LIMIT', `${counted(live.length, 'grant exists', 'grants exist')} already (maxGrants); revoke some first`)
}

function checkSize(grant: Grant, { maxGrantBytes }: GrantLimits): void {
  const bytes = Buffer.byteLength(JSON.stringify(grant))
  if (bytes > maxGrantBytes) throw new McpError('ERR_LIMIT', `A grant of ${bytes} bytes is larger than ${maxGrantBytes} (maxGrantBytes)`)
}

function isMeantBy(filter: GrantFilter, { bind }: Grant): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || bind[name as keyof GrantFilter] === value)
}

const MAX_FILE_BYTES = 128 * 1024 * 1024

/** Files without a version are a list of grants. */
const GRANTS_FORMAT: FileFormat = { version: 1, member: 'grants', upgrades: [(grants) => grants] }

/** A file with an unknown shape is rejected as a whole. */
function checkGrants(value: unknown): Grants {
  if (!Array.isArray(value)) throw new Error('expected a list of grants')
  for (const [index, grant] of value.entries()) {
    const fault = checkGrant(grant)
    if (fault !== undefined) throw new Error(`grant ${index + 1}: expected ${fault}`)
  }
  return value as Grants
}

function checkGrant(value: unknown): string | undefined {
  if (!isObject(value)) return 'an object'
  const { id, action, scope, expiresAt, usesLeft, bind, at } = value as Partial<Grant>
  if (typeof id !== 'string') return 'id: a text'
  if (!ACTION_KINDS.some((kind) => kind === action)) return 'action: one of the kinds of action'
  if (!GRANT_SCOPES.some((each) => each === scope)) return `scope: one of ${GRANT_SCOPES.join(', ')}`
  if (typeof at !== 'number' || (expiresAt !== undefined && typeof expiresAt !== 'number')) return 'at and expiresAt: numbers'
  if (usesLeft !== undefined && !Number.isSafeInteger(usesLeft)) return 'usesLeft: a whole number'
  if (!isObject(bind) || !isObject(bind.args)) return 'bind: an object with args'
  if (typeof bind.server !== 'string' || typeof bind.fingerprint !== 'string' || typeof bind.principal !== 'string')
    return 'bind.server, bind.fingerprint and bind.principal: texts'
  return isPredicate(bind.args as unknown as Parameters<typeof isPredicate>[0])
    ? undefined
    : 'bind.args: kind "any", "exact" with a digest, or "pattern" with args'
}

const isPredicate = ({ kind, digest, shown, args }: Readonly<Record<'kind' | 'digest' | 'shown' | 'args', unknown>>): boolean =>
  kind === 'any' ||
  (kind === 'exact' && typeof digest === 'string' && (shown === undefined || typeof shown === 'string')) ||
  (kind === 'pattern' && isObject(args))
