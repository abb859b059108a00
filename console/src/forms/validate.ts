/** Checks a value with the validator of Portico, which has limits for schemas of strangers and needs no `eval`. */

import { compileForeign } from '../../../src/protocol/schema/foreign.ts'
import type { Schema } from './model/schema.ts'
import { type Path, pathKey } from './model/value.ts'

/** The issues of a value, by the key of their path. */
export type Issues = ReadonlyMap<string, string>

export interface Validator {
  check(value: unknown): Issues
  /** Why the schema itself could not be used. Then nothing is checked here, and the server checks alone. */
  fault?: string
}

export const NO_ISSUES: Issues = new Map()

export async function createValidator(schema: Schema): Promise<Validator> {
  try {
    const validate = await compileForeign(schema, { assertsFormats: true })
    return {
      check: (value) => {
        const checked = validate(value ?? {})
        return checked.ok ? NO_ISSUES : issuesOf(checked.issues)
      },
    }
  } catch (error) {
    return { check: () => NO_ISSUES, fault: (error as Error).message }
  }
}

/** A missing member is an issue of its object; in a form it belongs to the field of the member. */
function issuesOf(issues: readonly { path: Path; message: string }[]): Issues {
  const found = new Map<string, string>()
  for (const { path, message } of issues) {
    const missing = MISSING.exec(message)?.[1]
    const key = pathKey(missing === undefined ? path : [...path, JSON.parse(missing) as string])
    const text = missing === undefined ? message : 'This is required'
    found.set(key, found.has(key) ? `${found.get(key)}; ${text}` : text)
  }
  return found
}

/** The text of the validator for a missing member. */
const MISSING = /^("(?:[^"\\]|\\.)*") is required$/s
