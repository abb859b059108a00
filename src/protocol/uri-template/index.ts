/** URI templates: parse once, expand and match many times. */

import { expandParts, type TemplateValues } from './expand.ts'
import { type MatchedValues, matchParts } from './match.ts'
import { parseTemplate } from './parse.ts'

export type { TemplateValue, TemplateValues } from './expand.ts'
export { MAX_URI_LENGTH, type MatchedValue, type MatchedValues } from './match.ts'

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
  ? FromList<StripOperator<Body>, IsOptional<Body>> & FromTemplate<Rest>
  : unknown

type StripOperator<B extends string> = B extends `${'+' | '#' | '.' | '/' | ';' | '?' | '&'}${infer Rest}` ? Rest : B

// An expression that writes its own lead-in may write nothing at all.
type IsOptional<B extends string> = B extends `${'#' | '.' | '/' | ';' | '?' | '&'}${string}` ? true : false

type FromList<L extends string, O extends boolean> = L extends `${infer Head},${infer Tail}`
  ? FromSpec<Head, O> & FromList<Tail, O>
  : FromSpec<L, O>

type FromSpec<V extends string, O extends boolean> = V extends `${infer Name}*`
  ? Entry<Name, string[], O>
  : V extends `${infer Name}:${string}`
    ? Entry<Name, string, O>
    : Entry<V, string, O>

type Entry<Name extends string, Value, O extends boolean> = O extends true ? { [K in Name]?: Value } : { [K in Name]: Value }

type Simplify<T> = { [K in keyof T]: T[K] }
