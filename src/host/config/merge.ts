/** Merges lists of servers: entries for the same server become one; different servers with one name get different names. */

import type { ConfigProvenance, ServerSpec, ServerTransport } from '../model/server-spec.ts'
import { mapTexts, partsOf, textsOf } from '../server-command/placeholder.ts'
import { freeName } from './server-names.ts'

/** Appends `more` to `first`. Servers of `first` keep their names and positions. No new server gets a name in `reserved`. */
export function mergeServers(first: readonly ServerSpec[], more: readonly ServerSpec[], reserved: readonly string[] = []): ServerSpec[] {
  const merged: ServerSpec[] = []
  const byWay = new Map<string, number>()
  const byId = new Map<string, number>()
  const taken = new Set(reserved)
  const add = (spec: ServerSpec): void => {
    taken.add(spec.id)
    byWay.set(identityOf(spec.transport), merged.length)
    byId.set(spec.id, merged.length)
    merged.push(spec)
  }
  for (const spec of first) add(spec)
  for (const spec of more) {
    const place = byWay.get(identityOf(spec.transport)) ?? byId.get(spec.id)
    const known = place === undefined ? undefined : merged[place]
    if (place !== undefined && known && isSameServer(known.transport, spec.transport)) {
      merged[place] = joinProvenance(known, spec)
      continue
    }
    const id = freeName(spec.id, taken, spec.provenance[0]?.client)
    add(id === spec.id ? spec : { ...spec, id, title: spec.title ?? spec.id })
  }
  return merged
}

function joinProvenance(known: ServerSpec, also: ServerSpec): ServerSpec {
  const { isDisabled, ...rest } = known
  const provenance = [...known.provenance, ...also.provenance.filter((from) => !known.provenance.some((other) => isSame(from, other)))]
  // Disabled only if it is disabled in all files. An enabled server is still not started here.
  return { ...rest, provenance, ...(isDisabled && also.isDisabled && { isDisabled }) }
}

const isSame = (a: ConfigProvenance, b: ConfigProvenance): boolean => a.client === b.client && a.scope === b.scope && a.file === b.file

/**
 * Finds, for each of `found`, the known server that was imported from it before: from the same file, under the same name. The known
 * server may have a suffix, if its name was taken at the time.
 */
export function matchKnownServers(known: readonly ServerSpec[], found: readonly ServerSpec[]): Map<ServerSpec, number> {
  const former = new Map<ServerSpec, number>()
  const used = new Set<number>()
  for (const hasName of [
    (each: ServerSpec, spec: ServerSpec) => each.id === spec.id,
    (each: ServerSpec, spec: ServerSpec) => each.id.startsWith(`${spec.id}-`) && each.title === (spec.title ?? spec.id),
  ]) {
    for (const spec of found) {
      if (former.has(spec)) continue
      const at = known.findIndex((each, i) => !used.has(i) && hasName(each, spec) && isImportedFrom(each, spec))
      if (at === -1) continue
      former.set(spec, at)
      used.add(at)
    }
  }
  return former
}

/** The first provenance is the source of the command or address. Servers that were added here ('ours') never match. */
const isImportedFrom = ({ provenance: [first] }: ServerSpec, { provenance }: ServerSpec): boolean =>
  first !== undefined && first.scope !== 'ours' && provenance.some((from) => isSame(from, first))

/**
 * Updates a known server to the current command or address in its file. Settings made here stay. Secrets that were moved to the vault
 * stay only if nothing else changed, so that the file of another client cannot redirect them to another command.
 */
export function renewServer(known: ServerSpec, found: ServerSpec): ServerSpec {
  const texts = new Map(textsOf(known.transport).map(({ where, text }) => [where, text]))
  const isSameButSecrets = isSameServer(known.transport, found.transport)
  const transport = mapTexts(found.transport, (text, where) => (isSameButSecrets && !hasSecret(text) ? (texts.get(where) ?? text) : text))
  const { provenance } = joinProvenance(known, found)
  if (identityOf(transport) === identityOf(known.transport)) return { ...known, provenance }
  const { inputs: _, ...rest } = known
  return { ...rest, transport, provenance, ...(found.inputs && { inputs: found.inputs }) }
}

const hasSecret = (text: string): boolean => partsOf(text).some((part) => 'placeholder' in part && part.placeholder.kind === 'secret')

/** A text that is equal for transports with the same values, in any order. */
const identityOf = (transport: ServerTransport): string =>
  JSON.stringify([
    transport.type,
    ...textsOf(transport)
      .map(({ where, text }) => [where, text])
      .sort(byText),
  ])

const byText = (a: readonly string[], b: readonly string[]): number => (String(a) < String(b) ? -1 : 1)

/** Also true if the known server's secrets were moved to the vault: otherwise a second import would bring the plain values back. */
function isSameServer(known: ServerTransport, found: ServerTransport): boolean {
  if (known.type === 'memory' || known.type !== found.type) return false
  const texts = new Map(textsOf(found).map(({ where, text }) => [where, text]))
  const ours = textsOf(known)
  return ours.length === texts.size && ours.every(({ where, text }) => matchesExceptSecret(text, texts.get(where)))
}

function matchesExceptSecret(known: string, found: string | undefined): boolean {
  if (found === undefined) return false
  if (known === found) return true
  const parts = partsOf(known)
  const [secret, another] = parts.filter((part) => 'placeholder' in part && part.placeholder.kind === 'secret')
  if (!secret || another) return false
  const [before, after] = [known.slice(0, secret.start), known.slice(secret.end)]
  return found.length >= before.length + after.length && found.startsWith(before) && found.endsWith(after)
}
