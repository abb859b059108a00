/**
 * The names by which a host speaks of what its servers offer. A server's part never contains the two underscores that
 * follow it, so nothing that one server calls its tools can give it a name in the space of another. And a name that was
 * given away stays with whom it was given to, whoever comes later.
 */

import { createHash } from 'node:crypto'
import { McpError } from '../../protocol/errors.ts'

const MAX_NAME_LENGTH = 64
const MAX_SLUG_LENGTH = 32
const DIGEST_LENGTH = 8
/** How many digests are tried before a name is given up; a server can only get in its own way. */
const MAX_TRIES = 8

export interface NameLimits {
  /** Names one server may be given over time; they are never given to something else. */
  maxNamesPerServer: number
}

interface ServerNames {
  slug: string
  /** The same as the beginning of a URI scheme. */
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
   * Makes servers known. Those that come together get the same names in whatever order they are listed; of two that would
   * have the same, the one whose id needs no change has it.
   */
  addServers(ids: Iterable<string>): void {
    const added = [...new Set(ids)].filter((id) => !this.#servers.has(id))
    for (const id of inOrder(added, (each) => plainSlug(each) === each)) {
      const slug = firstFree(slugsOf(id), (each) => this.#slugs.has(each))
      const scheme = slug && firstFree(schemesOf(id, slug), (each) => this.#schemes.has(each))
      if (slug === undefined || scheme === undefined)
        throw new McpError('ERR_CONFIG', `No name is left for the server ${JSON.stringify(id)}`)
      this.#slugs.add(slug)
      this.#schemes.set(scheme, id)
      this.#servers.set(id, { slug, scheme })
    }
  }

  /** The exposed name of each; undefined for those that no name is left for. */
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

  /** `uri` as it is exposed when it must be told from those of other servers. */
  prefixed(server: string, uri: string): string {
    return `${this.#of(server).scheme}+${uri}`
  }

  /** The server and the URI behind a prefixed one. Schemes of servers contain no `+`, and are looked up, not believed. */
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

/** The names of one server and kind, both ways. */
interface Owned {
  exposed: Map<string, string>
  owners: Map<string, string>
}

/** Code points, so that the order is the same everywhere. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Those that are fine as they are come first. */
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

/** Without two underscores in a row or one at an end, so that the `__` after it is the first there is. */
const plainSlug = (id: string): string => safe(id).replace(/_{2,}/g, '_').replace(/^_|_$/g, '')

function digest(parts: readonly string[], salt: number): string {
  return createHash('sha256')
    .update(JSON.stringify(salt === 0 ? parts : [...parts, salt]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
}
