/** Compiles the keywords of a schema object to checks. */

import { counted } from '../../base/text/counted.ts'
import { arrayCheck, unevaluatedItems } from './array-keywords.ts'
import { isSchemaObject, refused, type SchemaObject } from './document.ts'
import { countNodes, isEqual } from './equality.ts'
import { FORMATS } from './formats.ts'
import { describeValue } from './json-schema.ts'
import { asNumber, type KeywordContext, matches } from './keyword.ts'
import { logicChecks } from './logic-keywords.ts'
import { objectCheck, unevaluatedProperties } from './object-keywords.ts'
import { type Check, issue, type Run, spendOn } from './run.ts'

/** The checks of one schema object, the cheap ones first. References are compiled elsewhere. */
export function keywordChecks(schema: SchemaObject, context: KeywordContext): Check[] {
  const checks: Check[] = []
  const add = (check: Check | undefined): void => {
    if (check) checks.push(check)
  }
  add(typeCheck(schema))
  add(constCheck(schema))
  add(enumCheck(schema))
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
  // JSON does not have NaN and Infinity.
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: (value) => isSchemaObject(value),
}

function typeCheck(schema: SchemaObject): Check | undefined {
  const { type } = schema
  if (type === undefined) return undefined
  const names = [...new Set(Array.isArray(type) ? (type as string[]) : [type as string])]
  const tests = names.map((name) => {
    const test = typeof name === 'string' && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
    if (!test) throw refused(`"type" is ${JSON.stringify(name)}, which is not a JSON type`)
    return test
  })
  const expected = names.join(' or ')
  const [only] = tests
  if (only && tests.length === 1)
    return (value, run) => only(value) || issue(run, () => `expected ${expected}, got ${describeValue(value)}`)
  return (value, run) => tests.some((test) => test(value)) || issue(run, () => `expected ${expected}, got ${describeValue(value)}`)
}

function constCheck(schema: SchemaObject): Check | undefined {
  if (!('const' in schema)) return undefined
  const wanted = schema.const
  const size = countNodes(wanted)
  return (value, run) => {
    spendOn(run, size)
    return isEqual(value, wanted) || issue(run, () => `expected ${JSON.stringify(wanted)}, got ${describeValue(value)}`)
  }
}

function enumCheck(schema: SchemaObject): Check | undefined {
  const list = schema.enum
  if (!Array.isArray(list)) return undefined
  const simple = new Set(list.filter((each) => typeof each !== 'object' || each === null))
  const others = list.filter((each) => typeof each === 'object' && each !== null)
  const size = countNodes(others)
  const shown =
    list
      .slice(0, 10)
      .map((each) => JSON.stringify(each))
      .join(', ') + (list.length > 10 ? ', ...' : '')
  return (value, run) => {
    if (simple.has(value)) return true
    if (typeof value === 'object' && value !== null) {
      spendOn(run, size)
      if (others.some((each) => isEqual(value, each))) return true
    }
    return issue(run, () => `expected one of ${shown}, got ${describeValue(value)}`)
  }
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
    if (low !== undefined && value < low) return issue(run, () => `expected at least ${low}, got ${value}`)
    if (high !== undefined && value > high) return issue(run, () => `expected at most ${high}, got ${value}`)
    if (above !== undefined && value <= above) return issue(run, () => `expected more than ${above}, got ${value}`)
    if (below !== undefined && value >= below) return issue(run, () => `expected less than ${below}, got ${value}`)
    return factor === undefined || isMultiple(value, factor) || issue(run, () => `expected a multiple of ${factor}, got ${value}`)
  }
}

/**
 * Compares the numbers as decimals: 0.0075 is a multiple of 0.0001, although the quotient is 74.99999999999999 in binary
 * floating point.
 */
function isMultiple(value: number, factor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0
  if (factor === 0 || !Number.isFinite(value) || !Number.isFinite(factor)) return false
  const [a, b] = [decimalOf(value), decimalOf(factor)]
  const exponent = Math.min(a.exponent, b.exponent)
  const scaled = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent)
  return scaled(a) % scaled(b) === 0n
}

/** `digits` times ten to the `exponent`. */
interface Decimal {
  digits: bigint
  exponent: number
}

function decimalOf(value: number): Decimal {
  const [mantissa = '', power = '0'] = String(value).split('e')
  const [whole, fraction = ''] = mantissa.split('.')
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(power) - fraction.length }
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
    if (shortest !== undefined && isShorter(value, shortest, run))
      return issue(run, () => `expected at least ${counted(shortest, 'character')}, got ${codePoints(value)}`)
    if (longest !== undefined && !isShorter(value, longest + 1, run))
      return issue(run, () => `expected at most ${counted(longest, 'character')}, got ${codePoints(value)}`)
    if (pattern && !matches(pattern, value, run))
      return issue(run, () => `expected text matching ${String(source)}, got ${describeValue(value)}`)
    return !format || format(value) || issue(run, () => `expected ${String(name)}, got ${describeValue(value)}`)
  }
}

/** Counts code points. One code point has at most two UTF-16 units. */
function isShorter(text: string, length: number, run: Run): boolean {
  if (text.length < length) return true
  if (text.length >= 2 * length) return false
  spendOn(run, text.length >> 2)
  return codePoints(text) < length
}

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
