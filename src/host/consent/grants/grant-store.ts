/** What people have said yes to: kept for as long as they said, taken back when they say so, and used no more often than it may be. */

import { isObject } from '../../../base/json.ts'
import { type JsonSnapshot, memorySnapshot, openSnapshot } from '../../../files/json-snapshot.ts'
import { sharedJson } from '../../../files/shared-json.ts'
import { McpError } from '../../../protocol/errors.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import { ACTION_KINDS, type ActionKind } from '../../model/action.ts'
import { GRANT_SCOPES, type Grant } from '../../model/grant.ts'

export interface GrantLimits {
  /** Of those that are kept, and as many again of those that end with this process. */
  maxGrants: number
  /** The size of one grant, written as JSON. */
  maxGrantBytes: number
}

export const DEFAULT_GRANT_LIMITS: GrantLimits = { maxGrants: 2000, maxGrantBytes: 64 * 1024 }

export interface GrantStoreOptions {
  /** Where those for a project and for always are kept, for every process that names the same file. In memory without it. */
  file?: string
  limits?: Partial<GrantLimits>
}

/** What servers are and offer now. Undefined for what is not known at the moment: a server may be down, and back later. */
export interface Present {
  fingerprintOf(server: string): string | undefined
  pinOf(server: string, action: ActionKind, primitive: string): string | undefined
}

/** All that are given must be equal; none given means every grant. */
export interface GrantFilter {
  server?: string
  primitive?: string
  principal?: string
  run?: string
  project?: string
}

export interface GrantStore {
  /** Those that have not ended and have uses left. Which of them fits what is decided is for the decision to say. */
  live(now: number): Promise<readonly Grant[]>
  /** Everything there is, ended or not. */
  list(): Promise<readonly Grant[]>
  add(grant: Grant): Promise<void>
  /** Takes one use. False when there is none left, or the grant has ended or been revoked since it was looked up. */
  use(id: string, now: number): Promise<boolean>
  /** Returns how many there were. */
  revoke(which: string | GrantFilter): Promise<number>
  /** The person's next message, or the end of the conversation: what was granted for the turn, or the run, is gone. */
  endTurn(run: string, nextTurn: number): Promise<void>
  endRun(run: string): Promise<void>
  /** Removes those that have ended, and those for what a server or a definition is no longer; returns how many. */
  sweep(now: number, present?: Present): Promise<number>
}

type Grants = readonly Grant[]

/** Only what a person said for longer than a conversation outlives it. */
const isKept = ({ scope }: Grant): boolean => scope === 'project' || scope === 'always'

export async function openGrants({ file, limits }: GrantStoreOptions = {}): Promise<GrantStore> {
  const bounds = withDefaults(DEFAULT_GRANT_LIMITS, limits)
  const passing = memorySnapshot<Grants>([])
  const kept: JsonSnapshot<Grants> =
    file === undefined
      ? memorySnapshot<Grants>([])
      : await openSnapshot(sharedJson<Grants>(file, { empty: [], check: checkGrants, maxBytes: MAX_FILE_BYTES }))

  const list = async (): Promise<Grants> => [...passing.current, ...(await kept.refresh())]

  /** Changes only a document that has something to change: others need not read it again for nothing. */
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
      // Whatever was asked for: a single yes is for a single time.
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

const isLive = ({ expiresAt, usesLeft }: Grant, now: number): boolean => now < expiresAt && (usesLeft === undefined || usesLeft > 0)

/** Such a grant matches nothing any more; this only says so that it need not be kept. */
function isVoid({ action, bind }: Grant, present: Present | undefined): boolean {
  const fingerprint = present?.fingerprintOf(bind.server)
  if (fingerprint !== undefined && fingerprint !== bind.fingerprint) return true
  const pin = bind.primitive === undefined || bind.pin === undefined ? undefined : present?.pinOf(bind.server, action, bind.primitive)
  return pin !== undefined && pin !== bind.pin
}

/** The last use takes the grant with it. */
function withUse(grants: Grants, id: string, now: number): [Grants, boolean] {
  const grant = grants.find((each) => each.id === id)
  if (!grant || !isLive(grant, now)) return [grants, false]
  if (grant.usesLeft === undefined) return [grants, true]
  const used = { ...grant, usesLeft: grant.usesLeft - 1 }
  return [used.usesLeft > 0 ? grants.map((each) => (each === grant ? used : each)) : grants.filter((each) => each !== grant), true]
}

function withAdded(grants: Grants, added: Grant, { maxGrants }: GrantLimits): Grants {
  if (grants.some(({ id }) => id === added.id)) throw new McpError('ERR_STORE', `There is a grant ${added.id} already`)
  if (grants.length < maxGrants) return [...grants, added]
  const live = grants.filter((grant) => isLive(grant, added.at))
  if (live.length < maxGrants) return [...live, added]
  throw new McpError('ERR_LIMIT', `There are ${live.length} grants already, as many as there may be (maxGrants); revoke some first`)
}

function checkSize(grant: Grant, { maxGrantBytes }: GrantLimits): void {
  const bytes = Buffer.byteLength(JSON.stringify(grant))
  if (bytes > maxGrantBytes) throw new McpError('ERR_LIMIT', `A grant of ${bytes} bytes is larger than ${maxGrantBytes} (maxGrantBytes)`)
}

function isMeantBy(filter: GrantFilter, { bind }: Grant): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || bind[name as keyof GrantFilter] === value)
}

const MAX_FILE_BYTES = 128 * 1024 * 1024

/** A file that somebody wrote by hand, or that another version did, says nothing rather than something else. */
function checkGrants(value: unknown): Grants {
  if (!Array.isArray(value)) throw new Error('expected a list of grants')
  for (const [index, grant] of value.entries()) {
    const fault = faultOf(grant)
    if (fault !== undefined) throw new Error(`grant ${index + 1}: expected ${fault}`)
  }
  return value as Grants
}

function faultOf(value: unknown): string | undefined {
  if (!isObject(value)) return 'an object'
  const { id, action, scope, expiresAt, usesLeft, bind, at } = value as Partial<Grant>
  if (typeof id !== 'string') return 'id: a text'
  if (!ACTION_KINDS.some((kind) => kind === action)) return 'action: one of the kinds of action'
  if (!GRANT_SCOPES.some((each) => each === scope)) return `scope: one of ${GRANT_SCOPES.join(', ')}`
  if (typeof expiresAt !== 'number' || typeof at !== 'number') return 'at and expiresAt: numbers'
  if (usesLeft !== undefined && !Number.isSafeInteger(usesLeft)) return 'usesLeft: a whole number'
  if (!isObject(bind) || !isObject(bind.args)) return 'bind: an object with args'
  if (typeof bind.server !== 'string' || typeof bind.fingerprint !== 'string' || typeof bind.principal !== 'string')
    return 'bind.server, bind.fingerprint and bind.principal: texts'
  return isPredicate(bind.args) ? undefined : 'bind.args: any, exact with a digest, or pattern with args'
}

const isPredicate = ({ kind, digest, args }: { kind?: unknown; digest?: unknown; args?: unknown }): boolean =>
  kind === 'any' || (kind === 'exact' && typeof digest === 'string') || (kind === 'pattern' && isObject(args))
