/** URI templates: parsed once, then expanded and matched. */

import { expandParts, type TemplateValues } from './expand.ts'
import { matchParts } from './match.ts'
import { parseTemplate } from './parse.ts'
import type { MatchedValues } from './read.ts'

export type { TemplateValue, TemplateValues } from './expand.ts'
export { MAX_URI_LENGTH } from './match.ts'
export type { MatchedValue, MatchedValues } from './read.ts'

/** A parsed URI template. */
export interface UriTemplate {
  template: string
  /** The names of its variables, in order of first use. */
  variables: string[]
  /** The URI for these values. Variables without a value are left out. */
  expand(values: TemplateValues): string
  /** The values of the variables; undefined when the URI does not match or contains `..` segments. */
  match(uri: string): MatchedValues | undefined
}

/**
 * Parses a URI template as in RFC 6570. Throws ERR_DEFINITION when it is not valid.
 *
 * @example
 * const template = uriTemplate('note://{folder}/{id}')
 * template.expand({ folder: 'diary', id: 42 }) // 'note://diary/42'
 * template.match('note://diary/42') // { folder: 'diary', id: '42' }
 */
export function uriTemplate(template: string): UriTemplate {
  const parts = parseTemplate(template)
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)))
  return {
    template,
    variables: [...new Set(names)],
    expand: (values) => expandParts(parts, values),
    match: (uri) => matchParts(parts, uri),
  }
}

/** The types of a template's variables: `users://{id}` gives `{ id: string }`. */
export type VariablesOf<T extends string> = string extends T ? MatchedValues : Simplify<FromTemplate<T>>

type FromTemplate<T extends string> = T extends `${string}{${infer Body}}${infer Rest}`
  ? FromList<StripOperator<Body>, IsOptional<Body>, Spread<Body>> & FromTemplate<Rest>
  : unknown

type StripOperator<B extends string> = B extends `${'+' | '#' | '.' | '/' | ';' | '?' | '&'}${infer Rest}` ? Rest : B

// An expression with an operator, such as `?`, may expand to nothing.
type IsOptional<B extends string> = B extends `${'#' | '.' | '/' | ';' | '?' | '&'}${string}` ? true : false

// In expressions with names, an exploded variable may also be a map.
type Spread<B extends string> = B extends `${';' | '?' | '&'}${string}` ? string[] | Record<string, string> : string[]

// In `{a,b}` the second variable may be absent.
type FromList<L extends string, O extends boolean, S> = L extends `${infer Head},${infer Tail}`
  ? FromSpec<Head, O, S> & FromList<Tail, true, S>
  : FromSpec<L, O, S>

type FromSpec<V extends string, O extends boolean, S> = V extends `${infer Name}*`
  ? Entry<Name, S, O>
  : V extends `${infer Name}:${string}`
    ? Entry<Name, string, O>
    : Entry<V, string, O>

type Entry<Name extends string, Value, O extends boolean> = O extends true ? { [K in Name]?: Value } : { [K in Name]: Value }

type Simplify<T> = { [K in keyof T]: T[K] }
