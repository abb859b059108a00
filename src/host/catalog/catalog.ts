/** The catalog: one namespace over all servers. It contains only approved entries, and every name has one owner. */

import { type Clock, systemClock, type Timer } from '../../base/clock.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Prompt } from '../../protocol/model/prompts.ts'
import type { Resource, ResourceTemplate } from '../../protocol/model/resources.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import { type UriTemplate, uriTemplate } from '../../protocol/uri-template/index.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import type { EntryKind, Offering } from '../model/offering.ts'
import type { CatalogEntry, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from './entry.ts'
import { byText, type NameLimits, Names } from './names.ts'

export interface CatalogLimits extends NameLimits {
  /** Changes within this time are reported together. */
  changeDebounceMs: number
  /** Maximum number of entries of one kind, over all servers. */
  maxEntries: number
}

export const DEFAULT_CATALOG_LIMITS: CatalogLimits = { maxNamesPerServer: 20_000, changeDebounceMs: 50, maxEntries: 50_000 }

export interface CatalogOptions {
  /** Whether an entry is approved. Called again on every lookup. */
  isVisible(server: string, kind: EntryKind, name: string): boolean
  /** Called when lists of these kinds have changed. Once for all changes within `changeDebounceMs`. */
  onChange?(kinds: ReadonlySet<EntryKind>): void
  limits?: Partial<CatalogLimits>
  clock?: Clock
}

/** The server that a URI belongs to. `ambiguous`: several servers claim the URI, so no server gets the request. */
export type UriOwner =
  | { kind: 'one'; server: string; uri: string; entry: ResourceEntry | TemplateEntry }
  | { kind: 'ambiguous'; servers: string[] }
  | { kind: 'none' }

type Definition<Kind extends EntryKind> = Extract<CatalogEntry, { kind: Kind }>['definition']

const KINDS = ['tool', 'prompt', 'resource', 'template'] as const satisfies readonly EntryKind[]

/** The approved definitions of one server. */
type Visible = { [Kind in EntryKind]: readonly Definition<Kind>[] }

interface Listed<Kind extends EntryKind> {
  entries: readonly Extract<CatalogEntry, { kind: Kind }>[]
  byExposed: ReadonlyMap<string, Extract<CatalogEntry, { kind: Kind }>>
  byOrigin: ReadonlyMap<string, Extract<CatalogEntry, { kind: Kind }>>
}

export class Catalog {
  readonly #options: CatalogOptions
  readonly #limits: CatalogLimits
  readonly #clock: Clock
  readonly #names: Names
  readonly #surfaces = new Map<string, Offering>()
  readonly #visible = new Map<string, Visible>()
  /** Built on first use, dropped on change. */
  readonly #listed = new Map<EntryKind, Listed<EntryKind>>()
  readonly #templates = new Map<string, UriTemplate | undefined>()
  readonly #changed = new Set<EntryKind>()
  #timer: Timer | undefined

  constructor(options: CatalogOptions) {
    this.#options = options
    this.#limits = withDefaults(DEFAULT_CATALOG_LIMITS, options.limits)
    this.#clock = options.clock ?? systemClock
    this.#names = new Names(this.#limits)
  }

  /** Registers servers before any of them lists anything, so that names do not depend on the order of connection. */
  addServers(ids: Iterable<string>): void {
    this.#names.addServers(ids)
  }

  /** Replaces the offering of a server. ERR_LIMIT, without any change, if it is too large. */
  put(server: string, surface: Offering): void {
    this.#checkSize(server, surface)
    this.#names.addServers([server])
    this.#surfaces.set(server, surface)
    this.refresh(server)
  }

  remove(server: string): void {
    this.#surfaces.delete(server)
    this.refresh(server)
  }

  /** Updates which entries of a server, or of all servers, are visible. */
  refresh(server?: string): void {
    const servers = server === undefined ? [...this.#surfaces.keys()] : [server]
    for (const each of servers) {
      const before = this.#visible.get(each) ?? NOTHING
      const surface = this.#surfaces.get(each)
      const now = surface ? this.#visibleOf(each, surface) : NOTHING
      if (surface) this.#visible.set(each, now)
      else this.#visible.delete(each)
      for (const kind of KINDS) if (!isSame(before[kind], now[kind])) this.#onChanged(kind)
    }
  }

  tools(): readonly ToolEntry[] {
    return this.#all('tool')
  }

  prompts(): readonly PromptEntry[] {
    return this.#all('prompt')
  }

  resources(): readonly ResourceEntry[] {
    return this.#all('resource')
  }

  templates(): readonly TemplateEntry[] {
    return this.#all('template')
  }

  /** Finds an entry by its exposed name. Undefined: unknown, or not (or no longer) approved. */
  find<Kind extends EntryKind>(kind: Kind, exposed: string): Extract<CatalogEntry, { kind: Kind }> | undefined {
    return this.#ifVisible(this.#list(kind).byExposed.get(exposed))
  }

  /** Finds an entry by the server's own name or URI. */
  entryOf<Kind extends EntryKind>(kind: Kind, server: string, name: string): Extract<CatalogEntry, { kind: Kind }> | undefined {
    return this.#ifVisible(this.#list(kind).byOrigin.get(originKey(server, name)))
  }

  /** The server whose names begin like this one, whether or not it offers this name. */
  serverOfName(exposed: string): string | undefined {
    return this.#names.serverOf(exposed)
  }

  /** The server that a prefixed URI names. */
  serverOfUri(exposed: string): string | undefined {
    return this.#names.unprefixed(exposed)?.server
  }

  /** Finds the server of a URI: a listed resource, or a match of a template. */
  ownerOfUri(exposed: string): UriOwner {
    const listed = this.find('resource', exposed)
    if (listed) return { kind: 'one', server: listed.server, uri: listed.definition.uri, entry: listed }
    const prefixed = this.#names.unprefixed(exposed)
    if (prefixed) return this.#ownerOn([prefixed.server], prefixed.uri)
    // A URI that several servers offer is exposed with prefixes only, so the bare URI is ambiguous.
    return this.#ownerOn([...this.#visible.keys()], exposed)
  }

  /** Finds a URI on one server only. */
  ownerOn(server: string, uri: string): UriOwner {
    return this.#ownerOn([server], uri)
  }

  close(): void {
    this.#timer?.cancel()
  }

  #ownerOn(servers: readonly string[], uri: string): UriOwner {
    const owners = new Map<string, ResourceEntry | TemplateEntry>()
    for (const server of servers) {
      const listed = this.entryOf('resource', server, uri)
      if (listed) owners.set(server, listed)
    }
    const asked = new Set(servers)
    for (const entry of this.templates())
      if (asked.has(entry.server) && !owners.has(entry.server) && this.#fits(entry, uri)) owners.set(entry.server, entry)
    const [first, ...others] = owners
    if (!first) return { kind: 'none' }
    if (others.length > 0) return { kind: 'ambiguous', servers: [...owners.keys()].sort(byText) }
    return { kind: 'one', server: first[0], uri, entry: first[1] }
  }

  #fits({ definition }: TemplateEntry, uri: string): boolean {
    return this.#templateOf(definition.uriTemplate)?.match(uri) !== undefined
  }

  #templateOf(text: string): UriTemplate | undefined {
    if (this.#templates.has(text)) return this.#templates.get(text)
    const template = parsed(text)
    this.#templates.set(text, template)
    return template
  }

  #all<Kind extends EntryKind>(kind: Kind): readonly Extract<CatalogEntry, { kind: Kind }>[] {
    const { entries } = this.#list(kind)
    return entries.every((entry) => this.#ifVisible(entry)) ? entries : entries.filter((entry) => this.#ifVisible(entry))
  }

  /** Checks again, because an approval may have been revoked since the last refresh. */
  #ifVisible<Entry extends CatalogEntry>(entry: Entry | undefined): Entry | undefined {
    return entry && this.#options.isVisible(entry.server, entry.kind, nameOf(entry.kind, entry.definition)) ? entry : undefined
  }

  #visibleOf(server: string, surface: Offering): Visible {
    const seen = <Kind extends EntryKind>(kind: Kind, definitions: readonly Definition<Kind>[]): readonly Definition<Kind>[] =>
      definitions.filter((definition) => this.#options.isVisible(server, kind, nameOf(kind, definition)))
    return {
      tool: seen('tool', surface.tools),
      prompt: seen('prompt', surface.prompts),
      resource: seen('resource', surface.resources),
      template: seen('template', surface.templates),
    }
  }

  #list<Kind extends EntryKind>(kind: Kind): Listed<Kind> {
    const known = this.#listed.get(kind)
    if (known) return known as unknown as Listed<Kind>
    const entries = kind === 'tool' || kind === 'prompt' ? this.#named(kind) : this.#addressed(kind as 'resource' | 'template')
    entries.sort((a, b) => byText(a.exposed, b.exposed) || byText(a.server, b.server))
    const listed: Listed<EntryKind> = {
      entries,
      byExposed: new Map(entries.map((entry) => [entry.exposed, entry])),
      byOrigin: new Map(entries.map((entry) => [originKey(entry.server, nameOf(kind, entry.definition)), entry])),
    }
    this.#listed.set(kind, listed)
    return listed as unknown as Listed<Kind>
  }

  #named(kind: 'tool' | 'prompt'): CatalogEntry[] {
    const entries: CatalogEntry[] = []
    for (const server of this.#servers()) {
      const definitions: readonly (Tool | Prompt)[] = this.#visible.get(server)?.[kind] ?? []
      const names = this.#names.assign(
        server,
        kind,
        definitions.map(({ name }) => name),
      )
      for (const definition of definitions) {
        const exposed = names.get(definition.name)
        if (exposed !== undefined) entries.push({ kind, exposed, server, definition } as CatalogEntry)
      }
    }
    return entries
  }

  #addressed(kind: 'resource' | 'template'): CatalogEntry[] {
    const servers = this.#servers()
    const holders = new Map<string, number>()
    const each = (run: (server: string, definition: Resource | ResourceTemplate) => void): void => {
      for (const server of servers) for (const definition of this.#visible.get(server)?.[kind] ?? []) run(server, definition)
    }
    each((_server, definition) => {
      const uri = nameOf(kind, definition)
      holders.set(uri, (holders.get(uri) ?? 0) + 1)
    })
    const entries: CatalogEntry[] = []
    const isOfOther = kind === 'resource' ? this.#templateSearch(servers) : () => false
    each((server, definition) => {
      const uri = nameOf(kind, definition)
      // A URI that looks like a prefixed one gets a prefix too, so that it cannot imitate another server. The same holds for a URI that
      // fits a template of another server: whoever used that template would silently get the listed resource.
      const isPlain = holders.get(uri) === 1 && this.#names.unprefixed(uri) === undefined && !isOfOther(server, uri)
      entries.push({ kind, exposed: isPlain ? uri : this.#names.prefixed(server, uri), server, definition } as CatalogEntry)
    })
    return entries
  }

  /** Whether a URI fits a template of another server. After too many comparisons every URI counts as if it did. */
  #templateSearch(servers: readonly string[]): (server: string, uri: string) => boolean {
    const templates = servers.flatMap((server) =>
      (this.#visible.get(server)?.template ?? []).map(({ uriTemplate: text }) => ({ server, text, start: text.split('{', 1)[0] ?? '' })),
    )
    let left = MAX_STEPS
    return (server, uri) =>
      templates.some((other) => {
        if (other.server === server) return false
        if (left <= 0) return true
        const mayFit = uri.startsWith(other.start)
        left -= mayFit ? STEPS_A_MATCH : 1
        return mayFit && this.#templateOf(other.text)?.match(uri) !== undefined
      })
  }

  #servers(): string[] {
    return [...this.#visible.keys()].sort(byText)
  }

  #checkSize(server: string, surface: Offering): void {
    const { maxEntries } = this.#limits
    for (const list of ['tools', 'prompts', 'resources', 'templates'] as const) {
      let total = surface[list].length
      for (const [other, { [list]: items }] of this.#surfaces) if (other !== server) total += items.length
      if (total > maxEntries)
        throw new McpError('ERR_LIMIT', `All servers together list ${total} ${list}, more than ${maxEntries} (maxEntries)`)
    }
  }

  #onChanged(kind: EntryKind): void {
    this.#listed.delete(kind)
    // The names of resources depend on the templates of other servers.
    if (kind === 'template' && this.#listed.delete('resource')) this.#changed.add('resource')
    // Drop parsed templates that are no longer listed.
    if (kind === 'template') this.#templates.clear()
    this.#changed.add(kind)
    this.#timer ??= this.#clock.after(this.#limits.changeDebounceMs, () => {
      this.#timer = undefined
      const kinds = new Set(this.#changed)
      this.#changed.clear()
      this.#options.onChange?.(kinds)
    })
  }
}

/** Steps to compare resources with templates, for one list. A template that begins like the resource takes many steps. */
const MAX_STEPS = 1_000_000
const STEPS_A_MATCH = 100

const NOTHING: Visible = { tool: [], prompt: [], resource: [], template: [] }

/** The server's own name or URI of a definition. */
function nameOf(kind: EntryKind, definition: CatalogEntry['definition']): string {
  if (kind === 'resource') return (definition as Resource).uri
  return kind === 'template' ? (definition as ResourceTemplate).uriTemplate : (definition as Tool | Prompt).name
}

const originKey = (server: string, name: string): string => JSON.stringify([server, name])

/** By value: lists that were read again are new objects, usually with the same content. */
const isSame = (before: readonly object[], now: readonly object[]): boolean =>
  before === now || (before.length === now.length && JSON.stringify(before) === JSON.stringify(now))

/** An invalid template matches nothing. */
function parsed(text: string): UriTemplate | undefined {
  try {
    return uriTemplate(text)
  } catch {
    return undefined
  }
}
