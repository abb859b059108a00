/** A schema of a server, which can be anything: reads it without trusting it. References are followed inside the document only. */

export type Schema = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)

/** References and parts of `allOf` that are followed for one field. More is a trap: the field becomes raw JSON. */
const MAX_HOPS = 50

export interface Resolved {
  schema: Schema
  /** The references lead in a circle, outside the document, or are too many. */
  isUnclear: boolean
}

/** Follows `$ref` and merges `allOf`, for this schema only: its parts are resolved when they are drawn. */
export function resolve(root: Schema, schema: unknown): Resolved {
  let hops = 0
  const visit = (given: unknown): Schema | undefined => {
    if (++hops > MAX_HOPS) return undefined
    if (given === true) return {}
    if (!isObject(given)) return undefined
    let merged: Schema = given
    if (typeof given.$ref === 'string') {
      const target = visit(lookUp(root, given.$ref))
      if (!target) return undefined
      const { $ref: _, ...own } = given
      merged = { ...target, ...own }
    }
    if (!Array.isArray(merged.allOf)) return merged
    const { allOf, ...rest } = merged
    let all: Schema = rest
    for (const part of allOf as unknown[]) {
      const resolved = visit(part)
      if (!resolved) return undefined
      all = merge(resolved, all)
    }
    return all
  }
  const found = visit(schema ?? true)
  return found ? { schema: found, isUnclear: false } : { schema: isObject(schema) ? schema : {}, isUnclear: true }
}

/** The second one wins, except that properties and required names are joined. */
function merge(a: Schema, b: Schema): Schema {
  const [ofA, ofB] = [a, b].map(({ properties }) => (isObject(properties) ? properties : {}))
  // Its names also come first.
  const properties = { ...ofB, ...ofA, ...ofB }
  const required = [...new Set([...namesIn(a.required), ...namesIn(b.required)])]
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []

/** `#`, `#/$defs/x`, and `#name` for an anchor among the definitions. Undefined: not in this document. */
function lookUp(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return anchors(root).find((each) => each.$anchor === ref.slice(1) || each.$id === ref)
  let at: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if ((!isObject(at) && !Array.isArray(at)) || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

const anchors = (root: Schema): Schema[] =>
  [root.$defs, root.definitions].flatMap((each) => (isObject(each) ? Object.values(each).filter(isObject) : []))

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
