/** Compares two JSON Schemas, and tells whether the later one accepts more. */

import { asText } from '../../base/as-text.ts'
import { canonicalJson } from '../../protocol/model/canonical-json.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import { at, type Change, changeOf, textChange } from './change.ts'

type Schema = Record<string, unknown>

/** Compares two schemas, or two values of one keyword; undefined if missing. */
type Compare = (before: unknown, after: unknown, pointer: string, depth: number) => Change[]

/** Below this depth every difference counts as widening. */
const MAX_DEPTH = 64

export const schemaChanges = (before: unknown, after: unknown, pointer: string): Change[] => compareSchemas(before, after, pointer, 0)

function compareSchemas(before: unknown, after: unknown, pointer: string, depth: number): Change[] {
  if (isEqual(before, after)) return []
  // A missing schema accepts everything, like `true` and `{}`.
  const [left, right] = [asObject(before ?? true), asObject(after ?? true)]
  if (depth >= MAX_DEPTH) return [changeOf(pointer, 'widened', 'differs, too deep inside to be told apart', before, after)]
  if (before === false) return [changeOf(pointer, 'widened', 'takes what it refused altogether', before, after)]
  if (after === false) return [changeOf(pointer, 'narrowed', 'refuses everything now', before, after)]
  if (!left || !right) return [changeOf(pointer, 'widened', 'is no schema that can be compared', before, after)]
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
    ? changeOf(pointer, 'narrowed', 'is gone', before, after)
    : changeOf(pointer, 'widened', before === undefined ? 'is new' : 'is another', before, after),
]

/** Adding a constraint narrows; any other change of it is treated as widening. */
const compareCondition: Compare = (before, after, pointer) => [
  before === undefined
    ? changeOf(pointer, 'narrowed', 'is a new condition', before, after)
    : changeOf(pointer, 'widened', after === undefined ? 'is a condition no more' : 'is another condition', before, after),
]

/** An upper bound; with sign -1 a lower bound. */
const compareBound =
  (sign: 1 | -1): Compare =>
  (before, after, pointer, depth) => {
    if (typeof before !== 'number' || typeof after !== 'number') return compareCondition(before, after, pointer, depth)
    return sign * after > sign * before
      ? [changeOf(pointer, 'widened', `is looser: ${before} → ${after}`, before, after)]
      : [changeOf(pointer, 'narrowed', `is tighter: ${before} → ${after}`, before, after)]
  }

const compareUnique: Compare = (_before, after, pointer) => [
  after === true
    ? changeOf(pointer, 'narrowed', 'repetitions are refused now', false, true)
    : changeOf(pointer, 'widened', 'repetitions are taken now', true, after),
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
  if (added.length > 0) return [changeOf(pointer, 'widened', `takes ${added.join(', ')} now`, before, after)]
  const gone = [...left].filter((type) => !right.has(type))
  // `integer` next to `number` changes nothing.
  if (gone.length === 0) return [changeOf(pointer, 'cosmetic', 'the same types, written in another way', before, after)]
  return [changeOf(pointer, 'narrowed', `takes no ${gone.join(', ')} any more`, before, after)]
}

/** Listed values; no list means any value. */
const compareValues: Compare = (before, after, pointer, depth) => {
  if (!Array.isArray(before) || !Array.isArray(after)) return compareCondition(before, after, pointer, depth)
  const { added, gone } = setDifference(before, after)
  if (added.length > 0) return [changeOf(pointer, 'widened', `takes ${added.map(short).join(', ')} now`, before, after)]
  if (gone.length === 0) return [changeOf(pointer, 'cosmetic', 'the same values in another order', before, after)]
  return [changeOf(pointer, 'narrowed', `takes ${gone.map(short).join(', ')} no more`, before, after)]
}

const compareRequired: Compare = (before, after, pointer) => {
  const { added, gone } = setDifference(asList(before), asList(after))
  const changes = [
    ...gone.map((name) => changeOf(pointer, 'widened', `${short(name)} may be left out now`, name, undefined)),
    ...added.map((name) => changeOf(pointer, 'narrowed', `${short(name)} must be given now`, undefined, name)),
  ]
  return changes.length > 0 ? changes : [changeOf(pointer, 'cosmetic', 'the same names in another order', before, after)]
}

/** Schemas by name. A new name always counts as widening. */
const compareNamed =
  (what: string): Compare =>
  (before, after, pointer, depth) => {
    const [left, right] = [asObject(before ?? {}), asObject(after ?? {})]
    if (!left || !right) return compareUnknown(before, after, pointer, depth)
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((name) => {
      if (!Object.hasOwn(left, name)) return [changeOf(at(pointer, name), 'widened', `new ${what}`, undefined, right[name])]
      if (!Object.hasOwn(right, name)) return [changeOf(at(pointer, name), 'narrowed', `${what} is gone`, left[name], undefined)]
      return compareSchemas(left[name], right[name], at(pointer, name), depth + 1)
    })
  }

const compareSub: Compare = (before, after, pointer, depth) => compareSchemas(before, after, pointer, depth + 1)

/** Alternatives, or with `allOf` conditions. Equal ones are paired first, the rest in order. */
const compareAlternatives =
  (isEach: boolean): Compare =>
  (before, after, pointer, depth) => {
    if (!Array.isArray(before) || !Array.isArray(after)) return compareCondition(before, after, pointer, depth)
    const { added, gone } = setDifference(before, after)
    if (added.length === 0 && gone.length === 0) return [changeOf(pointer, 'cosmetic', 'the same in another order', before, after)]
    if (added.length === gone.length) return added.flatMap((each, i) => compareSchemas(gone[i], each, at(pointer, String(i)), depth + 1))
    const [classOfAdded, classOfGone] = isEach ? (['narrowed', 'widened'] as const) : (['widened', 'narrowed'] as const)
    return [
      ...added.map((each) => changeOf(pointer, classOfAdded, isEach ? 'new condition' : 'new alternative', undefined, each)),
      ...gone.map((each) => changeOf(pointer, classOfGone, isEach ? 'a condition is gone' : 'an alternative is gone', each, undefined)),
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
  patternProperties: compareNamed('pattern of properties'),
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

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** `true` is the schema without conditions. */
const asObject = (value: unknown): Schema | undefined =>
  value === true ? {} : typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined

const own = (schema: Schema, keyword: string): unknown => (Object.hasOwn(schema, keyword) ? schema[keyword] : undefined)
