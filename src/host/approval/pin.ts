/** Splits an offering into primitives, each with the digest of its definition. */

import { digestOf } from '../model/digest.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'

/** One item of an offering. Its definition is complete, `_meta` included. */
export interface Primitive {
  kind: PrimitiveKind
  /** The server's own name, the URI of a resource, the URI template, the URI of a skill, or the kind where there is only one. */
  name: string
  definition: unknown
}

/**
 * The kinds that are pinned. Resources are data: their list changes as people work, so they are inspected when they are read.
 */
export const PINNED_KINDS: ReadonlySet<PrimitiveKind> = new Set(['tool', 'prompt', 'template', 'skill', 'instructions', 'capabilities'])

/** The pinned primitives of an offering. Of two with the same name only one can be approved; the other stays in quarantine. */
export function primitivesOf({ tools, prompts, templates, skills = [], instructions, capabilities }: Offering): Primitive[] {
  return [
    ...tools.map((definition): Primitive => ({ kind: 'tool', name: definition.name, definition })),
    ...prompts.map((definition): Primitive => ({ kind: 'prompt', name: definition.name, definition })),
    ...templates.map((definition): Primitive => ({ kind: 'template', name: definition.uriTemplate, definition })),
    // The entry of a skill has the digests of all its files, so the approval is for their content.
    ...skills.map((definition): Primitive => ({ kind: 'skill', name: definition.uri, definition })),
    ...(instructions === undefined ? [] : [{ kind: 'instructions', name: 'instructions', definition: instructions } as const]),
    { kind: 'capabilities', name: 'capabilities', definition: capabilities },
  ]
}

/** Digests by definition, because every decision needs them. */
const pins = new WeakMap<object, string>()

/** The digest of a definition as canonical JSON: the order of members does not matter. Definitions are never changed after they were read. */
export function pinOf(definition: unknown): string {
  if (typeof definition !== 'object' || definition === null) return digestOf(definition)
  const pin = pins.get(definition) ?? digestOf(definition)
  pins.set(definition, pin)
  return pin
}
