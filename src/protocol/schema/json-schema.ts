/** The types of JSON Schemas, of the values they describe, and of the problems found in values. */

/** A JSON Schema. Default dialect: 2020-12; `$schema` selects another. */
export type JsonSchema = {
  readonly type?: string | readonly string[]
  readonly [keyword: string]: unknown
}

/** The type that a literal schema describes. `unknown` for keywords that are not covered here. */
export type FromJsonSchema<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: 'string' }
      ? string
      : S extends { type: 'number' | 'integer' }
        ? number
        : S extends { type: 'boolean' }
          ? boolean
          : S extends { type: 'null' }
            ? null
            : S extends { type: 'array'; items: infer I }
              ? FromJsonSchema<I>[]
              : S extends { type: 'object'; properties: infer P }
                ? FromProperties<P, S extends { required: readonly (infer R)[] } ? R : never>
                : S extends { type: 'object' }
                  ? Record<string, unknown>
                  : unknown

// TypeBox marks optional properties with '~optional' and types `required` as string[].
type RequiredKeys<P, R> = string extends R
  ? { [K in keyof P]: P[K] extends { '~optional': unknown } ? never : K }[keyof P]
  : Extract<keyof P, R>

type FromProperties<P, R> = { [K in RequiredKeys<P, R>]: FromJsonSchema<P[K]> } & {
  [K in Exclude<keyof P, RequiredKeys<P, R>>]?: FromJsonSchema<P[K]>
}

/** One problem with a value: its path, the expected value and the actual value. */
export interface Issue {
  path: (string | number)[]
  message: string
}

export type Checked<T = unknown> = { ok: true; value: T } | { ok: false; issues: Issue[] }

/** Texts like `a.b[0]: expected string, got number (42)`, at most `max` of them. */
export function describeIssues(issues: readonly Issue[], max = 5): string {
  const shown = issues.slice(0, max).map(({ path, message }) => (path.length === 0 ? message : `${describePath(path)}: ${message}`))
  if (issues.length > max) shown.push(`and ${issues.length - max} more`)
  return shown.join('; ')
}

export const describePath = (path: readonly (string | number)[]): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')

/** The type of a value and an excerpt of it, for error messages. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  const kind = Array.isArray(value) ? 'array' : typeof value
  const text = excerpt(value, MAX_EXCERPT + 1)
  return `${kind} (${text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT - 3)}...` : text})`
}

const MAX_EXCERPT = 60

/** About the first `room` characters of a value as JSON. The whole text could have megabytes. */
function excerpt(value: unknown, room: number): string {
  if (room <= 0) return ''
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room))
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? String(value)
  const isList = Array.isArray(value)
  let text = ''
  for (const [key, each] of isList ? value.slice(0, room).entries() : Object.entries(value).slice(0, room)) {
    const lead = `${text === '' ? '' : ','}${isList ? '' : `${excerpt(key, room)}:`}`
    text += lead + excerpt(each, room - text.length - lead.length)
    if (text.length >= room) break
  }
  return isList ? `[${text}]` : `{${text}}`
}
