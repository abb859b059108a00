/** Options over their defaults. */

import { McpError } from './errors.ts'

/**
 * An option that is there and undefined was not given, and its default holds: a bound does not vanish because
 * `process.env` has no value for it. One that is no number after all is an error, because nothing is larger than that.
 */
export function withDefaults<Defaults extends object, Given extends object>(
  defaults: Defaults,
  given: Given | undefined,
): Defaults & Given {
  const entries = Object.entries(given ?? {}).filter(([, value]) => value !== undefined)
  for (const [name, value] of entries) if (Number.isNaN(value)) throw new McpError('ERR_DEFINITION', `The option ${name} is not a number`)
  return { ...defaults, ...Object.fromEntries(entries) } as Defaults & Given
}
