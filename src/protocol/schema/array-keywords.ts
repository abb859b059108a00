/** JSON Schema keywords for arrays. */

import { counted } from '../../base/text/counted.ts'
import type { SchemaObject } from './document.ts'
import { hasUniqueItems } from './equality.ts'
import { asNumber, type KeywordContext } from './keyword.ts'
import { type Check, descend, issue, type Run, spend, spendOn, wantsMore } from './run.ts'

export function arrayCheck(schema: SchemaObject, context: KeywordContext): Check | undefined {
  const fewest = asNumber(schema.minItems)
  const most = asNumber(schema.maxItems)
  const isUnique = schema.uniqueItems === true
  const { prefix, rest } = itemChecks(schema, context)
  const contains = 'contains' in schema ? context.compile(schema.contains, 'contains') : undefined
  const minContains = asNumber(schema.minContains) ?? 1
  const maxContains = asNumber(schema.maxContains) ?? Number.POSITIVE_INFINITY
  const { countsContained } = context.dialect
  if (fewest === undefined && most === undefined && !isUnique && prefix.length === 0 && !rest && !contains) return undefined

  return (value, run) => {
    if (!Array.isArray(value)) return true
    if (fewest !== undefined && value.length < fewest)
      return issue(run, () => `expected at least ${counted(fewest, 'item')}, got ${value.length}`)
    if (most !== undefined && value.length > most) return issue(run, () => `expected at most ${counted(most, 'item')}, got ${value.length}`)
    if (isUnique && !hasUniqueItems(value, (count) => spend(run, count)))
      return issue(run, () => 'expected items that differ from each other')
    let ok = true
    for (let i = 0; i < value.length; i++) {
      const check = prefix[i] ?? rest
      if (!check) break
      run.items?.add(i)
      if (descend(check, value[i], i, run)) continue
      if (!wantsMore(run)) return false
      ok = false
    }
    if (!contains) return ok
    const found = findItems(value, contains, run)
    if (countsContained) for (const i of found) run.items?.add(i)
    if (found.length < minContains)
      return issue(run, () => `expected at least ${counted(minContains, 'matching item')}, got ${found.length}`)
    if (found.length > maxContains)
      return issue(run, () => `expected at most ${counted(maxContains, 'matching item')}, got ${found.length}`)
    return ok
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
  const prefix = Array.isArray(prefixItems) ? compileList(prefixItems, 'prefixItems') : []
  return { prefix, rest: items === undefined ? undefined : context.compile(items, 'items') }
}

/** The indexes of the matching items. Items that do not match are not reported. */
function findItems(value: readonly unknown[], check: Check, run: Run): number[] {
  const { issues } = run
  run.issues = undefined
  const found = [...value.keys()].filter((i) => descend(check, value[i], i, run))
  run.issues = issues
  return found
}

export function unevaluatedItems(schema: SchemaObject, context: KeywordContext): Check | undefined {
  if (!('unevaluatedItems' in schema)) return undefined
  const check = context.compile(schema.unevaluatedItems, 'unevaluatedItems')
  return (value, run) => {
    if (!Array.isArray(value)) return true
    spendOn(run, value.length)
    for (let i = 0; i < value.length; i++) {
      if (run.items?.has(i)) continue
      if (!descend(check, value[i], i, run)) return issue(run, () => `unexpected item at ${i}`)
      run.items?.add(i)
    }
    return true
  }
}
