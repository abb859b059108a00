/** What each JSON Schema keyword asks of a value. */

import { type Dialect, isSchemaObject, refused, type SchemaObject } from './document.ts'
import { FORMATS } from './formats.ts'
import { describeValue } from './json-schema.ts'
import { apply, type Check, descend, issue, probe, type Run, spend } from './run.ts'

export interface Pattern {
  /** What a test takes from the budget of steps. */
  stepsPerCharacter: number
  test(text: string): boolean
}

export interface KeywordContext {
  dialect: Dialect
  compile(schema: unknown, where: string): Check
  /** Undefined drops the keyword: the engine cannot run the expression safely. */
  pattern(source: string): Pattern | undefined
  assertsFormats: boolean
}

/** The checks of one schema object, in an order that meets cheap refusals first. References are not among them. */
export function keywordChecks(schema: SchemaObject, context: KeywordContext): Check[] {
  const checks: Check[] = []
  const add = (check: Check | undefined): void => {
    if (check) checks.push(check)
  }
  add(typeCheck(schema))
  add(valueCheck(schema))
  add(numberCheck(schema))
  add(stringCheck(schema, context))
  add(arrayCheck(schema, context))
  add(objectCheck(schema, context))
  for (const check of logicChecks(schema, context)) add(check)
  add(unevaluatedItems(schema, context))
  add(unevaluatedProperties(schema, context))
  return checks
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isSchemaObject(value),
}

function typeCheck(schema: SchemaObject): Check | undefined {
  const { type } = schema
  if (type === undefined) return undefined
  const names = (Array.isArray(type) ? type : [type]) as string[]
  const tests = names.map((name) => {
    const test = typeof name === 'string' && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
    if (!test) throw refused(`"type" is ${JSON.stringify(name)}, which is not a JSON type`)
    return test
  })
  const expected = names.join(' or ')
  const [only] = tests
  if (only && tests.length === 1) return (value, run) => only(value) || issue(run, `expected ${expected}, got ${describeValue(value)}`)
  return (value, run) => tests.some((test) => test(value)) || issue(run, `expected ${expected}, got ${describeValue(value)}`)
}

function valueCheck(schema: SchemaObject): Check | undefined {
  if ('const' in schema) {
    const wanted = schema.const
    return (value, run) => isEqual(value, wanted) || issue(run, `expected ${JSON.stringify(wanted)}, got ${describeValue(value)}`)
  }
  const list = schema.enum
  if (!Array.isArray(list)) return undefined
  const simple = new Set(list.filter((each) => typeof each !== 'object' || each === null))
  const others = list.filter((each) => typeof each === 'object' && each !== null)
  const shown =
    list
      .slice(0, 10)
      .map((each) => JSON.stringify(each))
      .join(', ') + (list.length > 10 ? ', ...' : '')
  return (value, run) =>
    simple.has(value) || others.some((each) => isEqual(value, each)) || issue(run, `expected one of ${shown}, got ${describeValue(value)}`)
}

function numberCheck(schema: SchemaObject): Check | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, unknown>
  const low = asNumber(minimum)
  const high = asNumber(maximum)
  const above = asNumber(exclusiveMinimum)
  const below = asNumber(exclusiveMaximum)
  const factor = asNumber(multipleOf)
  if (low === undefined && high === undefined && above === undefined && below === undefined && factor === undefined) return undefined
  return (value, run) => {
    if (typeof value !== 'number') return true
    if (low !== undefined && value < low) return issue(run, `expected at least ${low}, got ${value}`)
    if (high !== undefined && value > high) return issue(run, `expected at most ${high}, got ${value}`)
    if (above !== undefined && value <= above) return issue(run, `expected more than ${above}, got ${value}`)
    if (below !== undefined && value >= below) return issue(run, `expected less than ${below}, got ${value}`)
    return factor === undefined || isMultiple(value, factor) || issue(run, `expected a multiple of ${factor}, got ${value}`)
  }
}

// 0.0075 / 0.0001 is 74.99999999999999 in binary floating point, and still a multiple.
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor
  if (!Number.isFinite(quotient)) return value % factor === 0
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient)) * 4
}

function stringCheck(schema: SchemaObject, context: KeywordContext): Check | undefined {
  const shortest = asNumber(schema.minLength)
  const longest = asNumber(schema.maxLength)
  const source = schema.pattern
  const pattern = typeof source === 'string' ? context.pattern(source) : undefined
  const name = context.assertsFormats ? schema.format : undefined
  const format = typeof name === 'string' && Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
  if (shortest === undefined && longest === undefined && !pattern && !format) return undefined
  return (value, run) => {
    if (typeof value !== 'string') return true
    if (shortest !== undefined && isShorter(value, shortest))
      return issue(run, `expected at least ${shortest} characters, got ${describeValue(value)}`)
    if (longest !== undefined && !isShorter(value, longest + 1))
      return issue(run, `expected at most ${longest} characters, got ${codePoints(value)}`)
    if (pattern && !matches(pattern, value, run)) return issue(run, `expected text matching ${String(source)}, got ${describeValue(value)}`)
    return !format || format(value) || issue(run, `expected ${String(name)}, got ${describeValue(value)}`)
  }
}

function matches(pattern: Pattern, text: string, run: Run): boolean {
  spend(run, pattern.stepsPerCharacter * text.length)
  return pattern.test(text)
}

/** Length counts characters, not UTF-16 units; two units at most make one. */
const isShorter = (text: string, length: number): boolean => text.length < length || (text.length < 2 * length && codePoints(text) < length)

function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00 && text.charCodeAt(i + 1) >= 0xdc00 && text.charCodeAt(i + 1) < 0xe000) {
      count--
      i++
    }
  }
  return count
}

function arrayCheck(schema: SchemaObject, context: KeywordContext): Check | undefined {
  const fewest = asNumber(schema.minItems)
  const most = asNumber(schema.maxItems)
  const isUnique = schema.uniqueItems === true
  const { prefix, rest } = itemChecks(schema, context)
  const contains = 'contains' in schema ? context.compile(schema.contains, 'contains') : undefined
  const minContains = asNumber(schema.minContains) ?? 1
  const maxContains = asNumber(schema.maxContains) ?? Number.POSITIVE_INFINITY
  if (fewest === undefined && most === undefined && !isUnique && prefix.length === 0 && !rest && !contains) return undefined

  return (value, run) => {
    if (!Array.isArray(value)) return true
    if (fewest !== undefined && value.length < fewest) return issue(run, `expected at least ${fewest} items, got ${value.length}`)
    if (most !== undefined && value.length > most) return issue(run, `expected at most ${most} items, got ${value.length}`)
    if (isUnique && !hasUniqueItems(value)) return issue(run, 'expected items that differ from each other')
    let ok = true
    for (let i = 0; i < value.length; i++) {
      const check = prefix[i] ?? rest
      if (!check) break
      run.items?.add(i)
      if (descend(check, value[i], i, run)) continue
      if (!run.issues) return false
      ok = false
    }
    return (!contains || containsCheck(value, contains, minContains, maxContains, run)) && ok
  }
}

function itemChecks(schema: SchemaObject, context: KeywordContext): { prefix: Check[]; rest: Check | undefined } {
  const { items, prefixItems, additionalItems } = schema
  const compileList = (list: unknown[], where: string): Check[] => list.map((each) => context.compile(each, where))
  if (context.dialect.hasItemLists && Array.isArray(items)) {
    return {
      prefix: compileList(items, 'items'),
      rest: additionalItems === undefined ? undefined : context.compile(additionalItems, 'additionalItems'),
    }
  }
  const prefix = Array.isArray(prefixItems) && !context.dialect.hasItemLists ? compileList(prefixItems, 'prefixItems') : []
  return { prefix, rest: items === undefined ? undefined : context.compile(items, 'items') }
}

function containsCheck(value: unknown[], check: Check, min: number, max: number, run: Run): boolean {
  let count = 0
  for (let i = 0; i < value.length; i++) {
    const { issues } = run
    run.issues = undefined
    const isMatch = descend(check, value[i], i, run)
    run.issues = issues
    if (!isMatch) continue
    run.items?.add(i)
    count++
  }
  if (count < min) return issue(run, `expected at least ${min} matching items, got ${count}`)
  return count <= max || issue(run, `expected at most ${max} matching items, got ${count}`)
}

function objectCheck(schema: SchemaObject, context: KeywordContext): Check | undefined {
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : []
  const fewest = asNumber(schema.minProperties)
  const most = asNumber(schema.maxProperties)
  const properties = compileMap(schema.properties, 'properties', context)
  const patterns = patternChecks(schema.patternProperties, context)
  const additional = 'additionalProperties' in schema ? context.compile(schema.additionalProperties, 'additionalProperties') : undefined
  const forbidsAdditional = schema.additionalProperties === false
  const names = 'propertyNames' in schema ? context.compile(schema.propertyNames, 'propertyNames') : undefined
  const dependents = dependentChecks(schema, context)
  const looksAtAll = patterns.length > 0 || additional !== undefined || names !== undefined
  if (
    required.length === 0 &&
    fewest === undefined &&
    most === undefined &&
    properties.size === 0 &&
    !looksAtAll &&
    dependents.length === 0
  ) {
    return undefined
  }

  return (value, run) => {
    if (!isSchemaObject(value)) return true
    let ok = true
    for (const key of required) {
      if (Object.hasOwn(value, key)) continue
      issue(run, `${JSON.stringify(key)} is required`)
      if (!run.issues) return false
      ok = false
    }
    if (fewest !== undefined || most !== undefined) {
      const count = Object.keys(value).length
      if (fewest !== undefined && count < fewest) return issue(run, `expected at least ${fewest} properties, got ${count}`)
      if (most !== undefined && count > most) return issue(run, `expected at most ${most} properties, got ${count}`)
    }
    for (const [key, check] of properties) {
      if (!Object.hasOwn(value, key)) continue
      run.keys?.add(key)
      if (descend(check, value[key], key, run)) continue
      if (!run.issues) return false
      ok = false
    }
    if (looksAtAll) {
      for (const key of Object.keys(value)) {
        if (names && !descend(names, key, key, run)) ok = false
        let isKnown = properties.has(key)
        for (const [pattern, check] of patterns) {
          if (!matches(pattern, key, run)) continue
          isKnown = true
          run.keys?.add(key)
          if (!descend(check, value[key], key, run)) ok = false
        }
        if (!isKnown && additional) {
          run.keys?.add(key)
          if (forbidsAdditional) ok = issue(run, `unknown property ${JSON.stringify(key)}`)
          else if (!descend(additional, value[key], key, run)) ok = false
        }
        if (!ok && !run.issues) return false
      }
    }
    for (const dependent of dependents) {
      if (dependent(value, run)) continue
      if (!run.issues) return false
      ok = false
    }
    return ok
  }
}

const compileMap = (map: unknown, where: string, context: KeywordContext): Map<string, Check> =>
  new Map(isSchemaObject(map) ? Object.entries(map).map(([key, each]) => [key, context.compile(each, where)]) : [])

function patternChecks(map: unknown, context: KeywordContext): [Pattern, Check][] {
  const checks: [Pattern, Check][] = []
  for (const [source, check] of compileMap(map, 'patternProperties', context)) {
    const pattern = context.pattern(source)
    if (pattern) checks.push([pattern, check])
  }
  return checks
}

/** `dependentRequired`, `dependentSchemas`, and the older `dependencies` that is either. */
function dependentChecks(schema: SchemaObject, context: KeywordContext): ((value: SchemaObject, run: Run) => boolean)[] {
  const checks: ((value: SchemaObject, run: Run) => boolean)[] = []
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const map = schema[keyword]
    if (!isSchemaObject(map)) continue
    for (const [key, each] of Object.entries(map)) {
      if (Array.isArray(each)) {
        checks.push((value, run) => {
          if (!Object.hasOwn(value, key)) return true
          const missing = (each as string[]).find((name) => !Object.hasOwn(value, name))
          return missing === undefined || issue(run, `${JSON.stringify(missing)} is required beside ${JSON.stringify(key)}`)
        })
      } else {
        const check = context.compile(each, keyword)
        checks.push((value, run) => !Object.hasOwn(value, key) || apply(check, value, run))
      }
    }
  }
  return checks
}

function* logicChecks(schema: SchemaObject, context: KeywordContext): Generator<Check> {
  const list = (keyword: string): Check[] | undefined => {
    const value = schema[keyword]
    if (!Array.isArray(value)) return undefined
    return value.map((each) => context.compile(each, keyword))
  }
  const all = list('allOf')
  if (all) {
    yield (value, run) => {
      let ok = true
      for (const check of all) {
        if (apply(check, value, run)) continue
        if (!run.issues) return false
        ok = false
      }
      return ok
    }
  }
  const any = list('anyOf')
  if (any) {
    yield (value, run) => {
      let count = 0
      for (const check of any) {
        if (!probe(check, value, run)) continue
        count++
        // Alternatives after the first matter only to those who ask what was looked at.
        if (!run.keys && !run.items) break
      }
      return count > 0 || explainAlternatives(any, value, run)
    }
  }
  const one = list('oneOf')
  if (one) {
    yield (value, run) => {
      let count = 0
      for (const check of one)
        if (probe(check, value, run) && ++count > 1) return issue(run, 'matches more than one of the alternatives, expected exactly one')
      return count === 1 || explainAlternatives(one, value, run)
    }
  }
  if ('not' in schema) {
    const not = context.compile(schema.not, 'not')
    yield (value, run) => !probe(not, value, run) || issue(run, `is what it must not be, got ${describeValue(value)}`)
  }
  if ('if' in schema) {
    const condition = context.compile(schema.if, 'if')
    const then = 'then' in schema ? context.compile(schema.then, 'then') : undefined
    const otherwise = 'else' in schema ? context.compile(schema.else, 'else') : undefined
    yield (value, run) => {
      const branch = probe(condition, value, run) ? then : otherwise
      return !branch || apply(branch, value, run)
    }
  }
}

/** One alternative: its reasons are the reasons. Several: say that none fits. */
function explainAlternatives(checks: readonly Check[], value: unknown, run: Run): boolean {
  const [only] = checks
  if (run.issues && only && checks.length === 1) return apply(only, value, run)
  return issue(run, `matches none of the ${checks.length} alternatives, got ${describeValue(value)}`)
}

function unevaluatedItems(schema: SchemaObject, context: KeywordContext): Check | undefined {
  if (!('unevaluatedItems' in schema)) return undefined
  const check = context.compile(schema.unevaluatedItems, 'unevaluatedItems')
  return (value, run) => {
    if (!Array.isArray(value)) return true
    for (let i = 0; i < value.length; i++) {
      if (run.items?.has(i)) continue
      if (!descend(check, value[i], i, run)) return issue(run, `unexpected item at ${i}`)
      run.items?.add(i)
    }
    return true
  }
}

function unevaluatedProperties(schema: SchemaObject, context: KeywordContext): Check | undefined {
  if (!('unevaluatedProperties' in schema)) return undefined
  const check = context.compile(schema.unevaluatedProperties, 'unevaluatedProperties')
  return (value, run) => {
    if (!isSchemaObject(value)) return true
    for (const key of Object.keys(value)) {
      if (run.keys?.has(key)) continue
      if (!descend(check, value[key], key, run)) return issue(run, `unknown property ${JSON.stringify(key)}`)
      run.keys?.add(key)
    }
    return true
  }
}

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return canonical(a) === canonical(b)
}

// Comparing every pair would be quadratic in a list that a peer may choose.
const hasUniqueItems = (items: unknown[]): boolean => new Set(items.map(canonical)).size === items.length

/** JSON text with sorted keys: equal values, equal text. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const object = value as Record<string, unknown>
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`)
    .join(',')}}`
}
