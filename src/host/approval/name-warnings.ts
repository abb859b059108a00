/** Warns about names that look like names of other servers, and about texts that mention other servers. */

import { imitatedLetters, skeleton } from '../../base/text/confusable.ts'
import { visibleText } from '../../base/text/visible-text.ts'
import type { Primitive } from './pin.ts'

/** A name that another server offers. */
export interface OtherName {
  server: string
  /** Undefined where only the server is known. */
  name?: string
}

type Named = Required<OtherName>

/** @param others all other servers and their names, indexed once */
export function nameChecker(others: readonly OtherName[]): (primitive: Primitive, prose: string) => string[] {
  const named = others.flatMap(({ server, name }): Named[] => (name === undefined ? [] : [{ server, name }]))
  const names = groupBy(named, ({ name }) => [name.toLowerCase()])
  const looks = groupBy(named, ({ server, name }) => [name, `${server}${name}`, withoutServer(server, name)].flatMap(looksOf))
  const servers = new Map(others.map(({ server }) => [server.toLowerCase(), server]))
  return (primitive, prose) => [
    ...imitations(primitive),
    ...firstOf(alike(primitive, names, looks)),
    ...firstOf(mentions(primitive, prose, names, servers)),
  ]
}

/** A person cannot see the difference, so the warning names the letters. */
function imitations({ name }: Primitive): string[] {
  // One group holds both letters, because many typefaces draw them alike.
  const letters = imitatedLetters(name).map((letter) => (letter === 'l' ? 'i or l' : letter))
  if (letters.length === 0) return []
  return [
    letters.length === 1
      ? `The name contains a non-Latin letter that looks like ${letters[0]}`
      : `The name contains non-Latin letters that look like ${letters.join(', ')}`,
  ]
}

type Groups = ReadonlyMap<string, readonly Named[]>

function groupBy(others: readonly Named[], keysOf: (other: Named) => readonly string[]): Groups {
  const groups = new Map<string, Named[]>()
  for (const other of others) {
    for (const key of new Set(keysOf(other))) {
      const group = groups.get(key)
      if (group) group.push(other)
      else groups.set(key, [other])
    }
  }
  return groups
}

/** How a name looks at a glance: without separators, capitals and a plural. A digit at the end can be a number or stand for a letter. */
const looksOf = (name: string): string[] => [lookOf(name), lookOf(name.replace(/(?<=[^\d\s_.-])[\s_.-]{0,3}\d{1,9}$/, ''))]

function lookOf(name: string): string {
  const look = skeleton(name).replaceAll('_', '')
  return look.length > 3 && look.endsWith('s') ? look.slice(0, -1) : look
}

const withoutServer = (server: string, name: string): string =>
  name.length > server.length && name.toLowerCase().startsWith(server.toLowerCase()) ? name.slice(server.length) : name

function* alike({ kind, name }: Primitive, names: Groups, looks: Groups): Generator<string> {
  if (kind === 'instructions' || kind === 'capabilities') return
  // The same name first: it matters most.
  for (const other of names.get(name.toLowerCase()) ?? [])
    if (other.name === name) yield `Has the same name as an item of server ${other.server}`
  const seen = new Set<Named>()
  for (const look of looksOf(name)) {
    for (const other of looks.get(look) ?? []) {
      if (other.name === name || seen.has(other)) continue
      seen.add(other)
      yield `Has a name that looks like ${visibleText(other.name)} of server ${other.server}`
    }
  }
}

/** A short or common word can occur by chance. Only longer names with several parts count. */
const isTelling = (name: string): boolean => name.length >= 5 && /[_.-]|\p{Ll}\p{Lu}/u.test(name)

/** Words that texts about any server contain. A server that is called so is mentioned everywhere. */
const COMMON: ReadonlySet<string> = new Set(
  'agent client context default files index local model prompt prompts remote resource resources server servers system tools'.split(' '),
)

/** A text about tools of another server can tell the model how to use them. */
function* mentions({ name }: Primitive, prose: string, names: Groups, servers: ReadonlyMap<string, string>): Generator<string> {
  const found = prose.normalize('NFKC').match(/[\p{L}\p{N}_.-]+/gu) ?? []
  const words = new Set(found.map((word) => word.replace(/[.-]{1,9}$/, '').toLowerCase()))
  for (const word of words) {
    for (const other of names.get(word) ?? [])
      if (other.name !== name && isTelling(other.name)) yield `Mentions ${visibleText(other.name)} of another server: ${other.server}`
    const server = word.length >= 5 && !COMMON.has(word) ? servers.get(word) : undefined
    if (server !== undefined) yield `Mentions another server: ${server}`
  }
}

/** More warnings of one kind are not read, and two servers with many tools would produce one for each pair. */
const MAX_WARNINGS = 5
/** More than this are not counted. */
const MAX_COUNTED = 100

/** The first texts, and how many there are beside them. Stops early, so that the others are not even built. */
function firstOf(texts: Iterable<string>): string[] {
  const found = new Set<string>()
  let more = 0
  for (const text of texts) {
    if (found.size < MAX_WARNINGS) found.add(text)
    else if (!found.has(text) && ++more === MAX_COUNTED) break
  }
  if (more === 0) return [...found]
  return [...found, `And ${more === MAX_COUNTED ? `at least ${more}` : more} more warnings like these`]
}
