/** URI templates: parse once, expand and match many times. */

import { expandParts, type TemplateValues } from './expand.ts'
import { matchParts } from './match.ts'
import { parseTemplate } from './parse.ts'
import type { MatchedValues } from './read.ts'

export type { TemplateValue, TemplateValues } from './expand.ts'
export { MAX_URI_LENGTH } from './match.ts'
export type { MatchedValue, MatchedValues } from './read.ts'

export interface UriTemplate {
  template: string
  /** The names of its variables, in order of first use. */
  variables: string[]
  expand(values: TemplateValues): string
  match(uri: string): MatchedValues | undefined
}

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

/** The variables of a template that is a literal type: `users://{id}` gives `{ id: string }`. */
export type VariablesOf<T extends string> = string extends T ? MatchedValues : Simplify<FromTemplate<T>>

type FromTemplate<T extends string> = T extends `${string}{${infer Body}}${infer Rest}`
  ? FromList<StripOperator<Body>, IsOptional<Body>, Spread<Body>> & FromTemplate<Rest>
  : unknown

type StripOperator<B extends string> = B extends `${'+' | '#' | '.' | '/' | ';' | '?' | '&'}${infer Rest}` ? Rest : B

// An expression that writes its own lead-in may write nothing at all.
type IsOptional<B extends string> = B extends `${'#' | '.' | '/' | ';' | '?' | '&'}${string}` ? true : false

// Where values have names, those of an exploded variable may be a map as well.
type Spread<B extends string> = B extends `${';' | '?' | '&'}${string}` ? string[] | Record<string, string> : string[]

// `{a,b}` is written without the second when that has no value.
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
