/** JSON Schema keywords for objects. */

import { counted } from '../../base/text/counted.ts'
import { isSchemaObject, type SchemaObject } from './document.ts'
import { asNumber, type KeywordContext, matches, type Pattern } from './keyword.ts'
import { apply, type Check, descend, issue, type Run, spend, spendOn, wantsMore } from './run.ts'

export function objectCheck(schema: SchemaObject, context: KeywordContext): Check | undefined {
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : []
  const fewest = asNumber(schema.minProperties)
  const most = asNumber(schema.maxProperties)
  const properties = compileMap(schema.properties, 'properties', context)
  const patterns = patternChecks(schema.patternProperties, context)
  const additional = 'additionalProperties' in schema ? context.compile(schema.additionalProperties, 'additionalProperties') : undefined
  const forbidsAdditional = schema.additionalProperties === false
  const names = 'propertyNames' in schema ? context.compile(schema.propertyNames, 'propertyNames') : undefined
  const dependents = dependentChecks(schema, context)
  const lookups = required.length + properties.size + dependents.length
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
    spendOn(run, lookups)
    let ok = true
    for (const key of required) {
      if (Object.hasOwn(value, key)) continue
      issue(run, () => `${JSON.stringify(key)} is required`)
      if (!wantsMore(run)) return false
      ok = false
    }
    if (fewest !== undefined || most !== undefined) {
      const count = keysOf(value, run).length
      if (fewest !== undefined && count < fewest)
        return issue(run, () => `expected at least ${counted(fewest, 'property', 'properties')}, got ${count}`)
      if (most !== undefined && count > most)
        return issue(run, () => `expected at most ${counted(most, 'property', 'properties')}, got ${count}`)
    }
    for (const [key, check] of properties) {
      if (!Object.hasOwn(value, key)) continue
      run.keys?.add(key)
      if (descend(check, value[key], key, run)) continue
      if (!wantsMore(run)) return false
      ok = false
    }
    if (looksAtAll) {
      for (const key of keysOf(value, run)) {
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
          if (forbidsAdditional) ok = issue(run, () => `unknown property ${JSON.stringify(key)}`)
          else if (!descend(additional, value[key], key, run)) ok = false
        }
        if (!ok && !wantsMore(run)) return false
      }
    }
    for (const dependent of dependents) {
      if (dependent(value, run)) continue
      if (!wantsMore(run)) return false
      ok = false
    }
    return ok
  }
}

/** Engines store large objects as hash tables, and listing the keys of a table sorts them. */
function keysOf(value: SchemaObject, run: Run): string[] {
  const keys = Object.keys(value)
  spend(run, keys.length < 128 ? keys.length >> 3 : 2 * keys.length)
  return keys
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

/** `dependentRequired`, `dependentSchemas`, and the older `dependencies` that covers both. */
function dependentChecks(schema: SchemaObject, context: KeywordContext): ((value: SchemaObject, run: Run) => boolean)[] {
  const checks: ((value: SchemaObject, run: Run) => boolean)[] = []
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    const map = schema[keyword]
    if (!isSchemaObject(map)) continue
    for (const [key, each] of Object.entries(map)) {
      if (Array.isArray(each)) {
        checks.push((value, run) => {
          if (!Object.hasOwn(value, key)) return true
          spendOn(run, each.length)
          const missing = (each as string[]).find((name) => !Object.hasOwn(value, name))
          return missing === undefined || issue(run, () => `${JSON.stringify(missing)} is required together with ${JSON.stringify(key)}`)
        })
      } else {
        const check = context.compile(each, keyword)
        checks.push((value, run) => !Object.hasOwn(value, key) || apply(check, value, run))
      }
    }
  }
  return checks
}

export function unevaluatedProperties(schema: SchemaObject, context: KeywordContext): Check | undefined {
  if (!('unevaluatedProperties' in schema)) return undefined
  const check = context.compile(schema.unevaluatedProperties, 'unevaluatedProperties')
  return (value, run) => {
    if (!isSchemaObject(value)) return true
    for (const key of keysOf(value, run)) {
      if (run.keys?.has(key)) continue
      if (!descend(check, value[key], key, run)) return issue(run, () => `unknown property ${JSON.stringify(key)}`)
      run.keys?.add(key)
    }
    return true
  }
}
