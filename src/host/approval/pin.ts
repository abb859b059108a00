/** What a server offers, piece by piece, each with a digest of its whole definition. */

import { digestOf } from '../model/digest.ts'
import type { Offering, PrimitiveKind } from '../model/offering.ts'

/** One piece of what a server offers. Its definition is all that the server said of it, `_meta` included. */
export interface Primitive {
  kind: PrimitiveKind
  /** The server's own name; the URI of a resource, the template of a template, the kind itself where there is only one. */
  name: string
  definition: unknown
}

/**
 * The kinds that are pinned. A resource is data: a list of them grows as people work, and is not what was approved. What is
 * read from it is judged when it is read.
 */
export const PINNED_KINDS: ReadonlySet<PrimitiveKind> = new Set(['tool', 'prompt', 'template', 'instructions', 'capabilities'])

/** What of a surface is pinned. Of two of one name one can be: the other is never what was approved, and stays out of use. */
export function primitivesOf({ tools, prompts, templates, instructions, capabilities }: Offering): Primitive[] {
  return [
    ...tools.map((definition): Primitive => ({ kind: 'tool', name: definition.name, definition })),
    ...prompts.map((definition): Primitive => ({ kind: 'prompt', name: definition.name, definition })),
    ...templates.map((definition): Primitive => ({ kind: 'template', name: definition.uriTemplate, definition })),
    ...(instructions === undefined ? [] : [{ kind: 'instructions', name: 'instructions', definition: instructions } as const]),
    { kind: 'capabilities', name: 'capabilities', definition: capabilities },
  ]
}

/** Of definitions that were looked at before: each is looked at whenever something is decided about it. */
const pins = new WeakMap<object, string>()

/** Changes with every byte that means something in JSON; the order of members does not. A definition that was read stays as it is. */
export function pinOf(definition: unknown): string {
  if (typeof definition !== 'object' || definition === null) return digestOf(definition)
  const pin = pins.get(definition) ?? digestOf(definition)
  pins.set(definition, pin)
  return pin
}
