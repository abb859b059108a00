/** A short way to write object schemas from which TypeScript infers the argument types. */

import type { JsonSchema } from '../server/index.ts'

type Properties = Record<string, JsonSchema>

interface ObjectSchema<P extends Properties, R> {
  type: 'object'
  properties: P
  required: R[]
  additionalProperties: false
  [keyword: string]: unknown
}

/** The schema of an object that has only these properties. `required` lists the mandatory ones. */
export const object = <const P extends Properties, const R extends keyof P & string = never>(
  properties: P,
  ...required: R[]
): ObjectSchema<P, R> => ({ type: 'object', properties, required, additionalProperties: false })

/** The schema of an object that has all of these properties, and no others. */
export const allRequired = <const P extends Properties>(properties: P): ObjectSchema<P, keyof P & string> =>
  object(properties, ...Object.keys(properties))
