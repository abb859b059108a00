/** Lists the changes between two JSON Schemas, and marks those that make the schema accept more. */

import { asText } from '../../base/as-text.ts'
import { canonicalJson } from '../../protocol/model/digest-json.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import { at, type Change, changeOf, textChange } from './change.ts'

type Schema = Record<string, unknown>

/** Compares two schemas, or two values of one keyword. A missing value is undefined. */
type Compare = (before: unknown, after: unknown, pointer: string, depth: number) => Change[]

/** Differences nested deeper than this count as widening. */
const MAX_DEPTH = 64

export const schemaChanges = (before: unknown, after: unknown, pointer: string): Change[] => compareSchemas(before, after, pointer, 0)

function compareSchemas(before: unknown, after: unknown, pointer: string, depth: number): Change[] {
  if (isEqual(before, after)) return []
  // A missing schema accepts everything, like `true` and `{}`.
  const [left, right] = [asObject(before ?? true), asObject(after ?? true)]
  if (depth >= MAX_DEPTH) return [changeOf(pointer, 'widened', 'changed, nested too deeply to compare', before, after)]
  if (before === false) return [changeOf(pointer, 'widened', 'accepts input it used to reject', before, after)]
  if (after === false) return [changeOf(pointer, 'narrowed', 'rejects every value now', before, after)]
  if (!left || !right) return [changeOf(pointer, 'widened', 'changed, not a schema that can be compared', before, after)]
  const keywords = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keywords].flatMap((keyword) => compareKeyword(keyword, left, right, pointer, depth))
}

function compareKeyword(keyword: string, left: Schema, right: Schema, pointer: string, depth: number): Change[] {
  const [before, after] = [own(left, keyword), own(right, keyword)]
  if (isEqual(before, after)) return []
  const compare = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined
  return (compare ?? compareUnknown)(before, after, at(pointer, keyword), depth)
}

const compareText: Compare = (before, after, pointer) => [textChange(before, after, pointer)]

/** An unknown keyword counts as widening, unless it was removed. */
const compareUnknown: Compare = (before, after, pointer) => [
  after === undefined
    ? changeOf(pointer, 'narrowed', 'removed', before, after)
    : changeOf(pointer, 'widened', before === undefined ? 'added' : 'changed', before, after),
]

/** A new condition narrows the schema. A changed or removed condition counts as widening. */
const compareCondition: Compare = (before, after, pointer) => [
  before === undefined
    ? changeOf(pointer, 'narrowed', 'new condition', before, after)
    : changeOf(pointer, 'widened', after === undefined ? 'condition removed' : 'condition changed', before, after),
]

/** Compares upper limits, or with sign -1 lower limits. */
const compareBound =
  (sign: 1 | -1): Compare =>
  (before, after, pointer, depth) => {
    if (typeof before !== 'number' || typeof after !== 'number') return compareCondition(before, after, pointer, depth)
    return sign * after > sign * before
      ? [changeOf(pointer, 'widened', `limit loosened: ${before} → ${after}`, before, after)]
      : [changeOf(pointer, 'narrowed', `limit tightened: ${before} → ${after}`, before, after)]
  }

const compareUnique: Compare = (_before, after, pointer) => [
  after === true
    ? changeOf(pointer, 'narrowed', 'rejects repeated items now', false, true)
    : changeOf(pointer, 'widened', 'accepts repeated items now', true, after),
]

/** All JSON types. */
const TYPES = ['null', 'boolean', 'object', 'array', 'string', 'number', 'integer']

const typesOf = (value: unknown): Set<string> => {
  const named = value === undefined ? TYPES : Array.isArray(value) ? value.map(asText) : [asText(value)]
  return new Set(named.includes('number') ? [...named, 'integer'] : named)
}

const compareType: Compare = (before, after, pointer) => {
  const [left, right] = [typesOf(before), typesOf(after)]
  const added = [...right].filter((type) => !left.has(type))
  if (added.length > 0) return [changeOf(pointer, 'widened', `now also accepts ${added.join(', ')}`, before, after)]
  const gone = [...left].filter((type) => !right.has(type))
  // `number` includes `integer`, so adding `integer` to it changes nothing.
  if (gone.length === 0) return [changeOf(pointer, 'cosmetic', 'same types, written differently', before, after)]
  return [changeOf(pointer, 'narrowed', `no longer accepts ${gone.join(', ')}`, before, after)]
}

/** Compares the listed values. Without a list every value is valid. */
const compareValues: Compare = (before, after, pointer, depth) => {
  if (!Array.isArray(before) || !Array.isArray(after)) return compareCondition(before, after, pointer, depth)
  const { added, gone } = setDifference(before, after)
  if (added.length > 0) return [changeOf(pointer, 'widened', `now also accepts ${added.map(short).join(', ')}`, before, after)]
  if (gone.length === 0) return [changeOf(pointer, 'cosmetic', 'same values in another order', before, after)]
  return [changeOf(pointer, 'narrowed', `no longer accepts ${gone.map(short).join(', ')}`, before, after)]
}

const compareRequired: Compare = (before, after, pointer, depth) => {
  const [left, right] = [before ?? [], after ?? []]
  if (!Array.isArray(left) || !Array.isArray(right)) return compareUnknown(before, after, pointer, depth)
  const { added, gone } = setDifference(left, right)
  const changes = [
    ...gone.map((name) => changeOf(pointer, 'widened', `${short(name)} is now optional`, name, undefined)),
    ...added.map((name) => changeOf(pointer, 'narrowed', `${short(name)} is now required`, undefined, name)),
  ]
  return changes.length > 0 ? changes : [changeOf(pointer, 'cosmetic', 'same names in another order', before, after)]
}

/** Compares schemas by name. A new name always counts as widening. */
const compareNamed =
  (what: string): Compare =>
  (before, after, pointer, depth) => {
    const [left, right] = [asObject(before ?? {}), asObject(after ?? {})]
    if (!left || !right) return compareUnknown(before, after, pointer, depth)
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
      if (!Object.hasOwn(left, name)) return [changeOf(at(pointer, name), 'widened', `new ${what}`, undefined, right[name])]
      if (!Object.hasOwn(right, name)) return [changeOf(at(pointer, name), 'narrowed', `${what} removed`, left[name], undefined)]
      return compareSchemas(left[name], right[name], at(pointer, name), depth + 1)
    })
  }

const compareSub: Compare = (before, after, pointer, depth) => compareSchemas(before, after, pointer, depth + 1)

/** Compares alternatives, or the conditions of `allOf` if `isEach`. Equal entries are left out, the others paired in order. */
const compareAlternatives =
  (isEach: boolean): Compare =>
  (before, after, pointer, depth) => {
    if (!Array.isArray(before) || !Array.isArray(after)) return compareCondition(before, after, pointer, depth)
    const { added, gone } = setDifference(before, after)
    if (added.length === 0 && gone.length === 0) return [changeOf(pointer, 'cosmetic', 'same entries in another order', before, after)]
    if (added.length === gone.length) return added.flatMap((each, i) => compareSchemas(gone[i], each, at(pointer, String(i)), depth + 1))
    const [classOfAdded, classOfGone] = isEach ? (['narrowed', 'widened'] as const) : (['widened', 'narrowed'] as const)
    return [
      ...added.map((each) => changeOf(pointer, classOfAdded, isEach ? 'new condition' : 'new alternative', undefined, each)),
      ...gone.map((each) => changeOf(pointer, classOfGone, isEach ? 'condition removed' : 'alternative removed', each, undefined)),
    ]
  }

const KEYWORDS: Readonly<Record<string, Compare>> = {
  title: compareText,
  description: compareText,
  $comment: compareText,
  examples: compareText,
  default: compareText,
  deprecated: compareText,
  type: compareType,
  enum: compareValues,
  const: compareCondition,
  required: compareRequired,
  properties: compareNamed('property'),
  patternProperties: compareNamed('property pattern'),
  $defs: compareNamed('definition'),
  definitions: compareNamed('definition'),
  additionalProperties: compareSub,
  unevaluatedProperties: compareSub,
  propertyNames: compareSub,
  items: compareSub,
  additionalItems: compareSub,
  unevaluatedItems: compareSub,
  anyOf: compareAlternatives(false),
  oneOf: compareAlternatives(false),
  allOf: compareAlternatives(true),
  maximum: compareBound(1),
  exclusiveMaximum: compareBound(1),
  maxLength: compareBound(1),
  maxItems: compareBound(1),
  maxProperties: compareBound(1),
  minimum: compareBound(-1),
  exclusiveMinimum: compareBound(-1),
  minLength: compareBound(-1),
  minItems: compareBound(-1),
  minProperties: compareBound(-1),
  uniqueItems: compareUnique,
  multipleOf: compareCondition,
  pattern: compareCondition,
  format: compareCondition,
}

function setDifference(before: readonly unknown[], after: readonly unknown[]): { added: unknown[]; gone: unknown[] } {
  const [left, right] = [new Set(before.map(canonicalJson)), new Set(after.map(canonicalJson))]
  return {
    added: after.filter((value) => !left.has(canonicalJson(value))),
    gone: before.filter((value) => !right.has(canonicalJson(value))),
  }
}

const short = (value: unknown): string => canonicalJson(value)

/** `true` means a schema without conditions. */
const asObject = (value: unknown): Schema | undefined =>
  value === true ? {} : typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined

const own = (schema: Schema, keyword: string): unknown => (Object.hasOwn(schema, keyword) ? schema[keyword] : undefined)
