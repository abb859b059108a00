/**
 * Assigns unique names (`server__tool`) to everything that servers offer. The server part never contains `__`, so no tool name can
 * reach into the names of another server. A name is never reassigned.
 */

import { createHash } from 'node:crypto'
import { McpError } from '../../protocol/errors.ts'

const MAX_NAME_LENGTH = 64
const MAX_SLUG_LENGTH = 32
const DIGEST_LENGTH = 8
/** How many digests are tried before a name is given up. Only names of the same server can collide. */
const MAX_TRIES = 8

export interface NameLimits {
  /** Maximum number of names per server over time. Names are never reused. */
  maxNamesPerServer: number
}

interface ServerNames {
  slug: string
  /** The slug as the beginning of a URI scheme. */
  scheme: string
}

export class Names {
  readonly #limits: NameLimits
  readonly #servers = new Map<string, ServerNames>()
  readonly #slugs = new Set<string>()
  readonly #schemes = new Map<string, string>()
  readonly #owned = new Map<string, Owned>()

  constructor(limits: NameLimits) {
    this.#limits = limits
  }

  /**
   * Registers servers. The names do not depend on the order within one call. If two ids lead to the same slug, the id that needs no
   * change gets it.
   */
  addServers(ids: Iterable<string>): void {
    const added = [...new Set(ids)].filter((id) => !this.#servers.has(id))
    for (const id of inOrder(added, (each) => plainSlug(each) === each)) {
      const slug = firstFree(slugsOf(id), (each) => this.#slugs.has(each))
      const scheme = slug && firstFree(schemesOf(id, slug), (each) => this.#schemes.has(each))
      if (slug === undefined || scheme === undefined)
        throw new McpError('ERR_CONFIG', `No unique name is available for the server ${JSON.stringify(id)}`)
      this.#slugs.add(slug)
      this.#schemes.set(scheme, id)
      this.#servers.set(id, { slug, scheme })
    }
  }

  /** The exposed name for each of `names`. Undefined: no name is available. */
  assign(server: string, kind: 'tool' | 'prompt', names: Iterable<string>): Map<string, string | undefined> {
    const { slug } = this.#of(server)
    const owned = this.#ownedBy(server, kind)
    const fresh = [...names]
    for (const name of inOrder(
      fresh.filter((each) => !owned.exposed.has(each)),
      (each) => safe(each) === each,
    )) {
      if (owned.exposed.size >= this.#limits.maxNamesPerServer) break
      const exposed = firstFree(exposedNamesOf(slug, server, name), (each) => owned.owners.has(each))
      if (exposed === undefined) continue
      owned.exposed.set(name, exposed)
      owned.owners.set(exposed, name)
    }
    return new Map(fresh.map((name) => [name, owned.exposed.get(name)]))
  }

  /** The server of an exposed name of a tool or prompt, also before the name was assigned. */
  serverOf(exposed: string): string | undefined {
    const end = exposed.indexOf('__')
    return [...this.#servers].find(([, { slug }]) => end > 0 && slug === exposed.slice(0, end))?.[0]
  }

  /** The exposed form of a URI that must be distinguished from those of other servers. */
  prefixed(server: string, uri: string): string {
    return `${this.#of(server).scheme}+${uri}`
  }

  /** The server and URI of a prefixed URI. Only registered schemes are accepted; they contain no `+`. */
  unprefixed(uri: string): { server: string; uri: string } | undefined {
    const plus = uri.indexOf('+')
    if (plus < 0) return undefined
    const server = this.#schemes.get(uri.slice(0, plus))
    return server === undefined ? undefined : { server, uri: uri.slice(plus + 1) }
  }

  #of(server: string): ServerNames {
    const names = this.#servers.get(server)
    if (names) return names
    this.addServers([server])
    return this.#of(server)
  }

  #ownedBy(server: string, kind: 'tool' | 'prompt'): Owned {
    const key = `${kind} ${server}`
    const known = this.#owned.get(key)
    if (known) return known
    const owned: Owned = { exposed: new Map(), owners: new Map() }
    this.#owned.set(key, owned)
    return owned
  }
}

/** The names of one server and kind, in both directions. */
interface Owned {
  exposed: Map<string, string>
  owners: Map<string, string>
}

/** Compares texts by code units, so that the order is the same in every locale. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Sorts names. Names that need no change come first. */
function inOrder(names: readonly string[], isUnchanged: (name: string) => boolean): string[] {
  return [...new Set(names)].sort((a, b) => Number(isUnchanged(b)) - Number(isUnchanged(a)) || byText(a, b))
}

function firstFree(candidates: Iterable<string>, isTaken: (name: string) => boolean): string | undefined {
  for (const candidate of candidates) if (!isTaken(candidate)) return candidate
  return undefined
}

function* slugsOf(id: string): Generator<string> {
  const slug = plainSlug(id)
  if (slug !== '' && slug.length <= MAX_SLUG_LENGTH) yield slug
  const start = slug.slice(0, MAX_SLUG_LENGTH - DIGEST_LENGTH - 1).replace(/_+$/, '') || 'server'
  for (let salt = 0; salt < MAX_TRIES; salt++) yield `${start}-${digest([id], salt)}`
}

function* schemesOf(id: string, slug: string): Generator<string> {
  const scheme = slug
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^[^a-z]/, 's$&')
  yield scheme
  for (let salt = 0; salt < MAX_TRIES; salt++) yield `${scheme}-${digest([id], salt)}`
}

function* exposedNamesOf(slug: string, server: string, name: string): Generator<string> {
  const start = `${slug}__${safe(name)}`
  if (start.length <= MAX_NAME_LENGTH && name !== '') yield start
  const short = start.slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1)
  for (let salt = 0; salt < MAX_TRIES; salt++) yield `${short}_${digest([server, name], salt)}`
}

const safe = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_')

/** Has no `__` and no underscore at either end, so that the `__` after it is the first one. */
const plainSlug = (id: string): string => safe(id).replace(/_{2,}/g, '_').replace(/^_|_$/g, '')

function digest(parts: readonly string[], salt: number): string {
  return createHash('sha256')
    .update(JSON.stringify(salt === 0 ? parts : [...parts, salt]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
}
