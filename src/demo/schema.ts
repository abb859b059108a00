/** Object schemas that TypeScript can read: who writes one property need not write the whole frame. */

import type { JsonSchema } from '../server/index.ts'

type Properties = Record<string, JsonSchema>

interface ObjectSchema<P extends Properties, R> {
  type: 'object'
  properties: P
  required: R[]
  additionalProperties: false
  [keyword: string]: unknown
}

/** Nothing but these properties, of which `required` must be there. */
export const object = <const P extends Properties, const R extends keyof P & string = never>(
  properties: P,
  ...required: R[]
): ObjectSchema<P, R> => ({ type: 'object', properties, required, additionalProperties: false })
