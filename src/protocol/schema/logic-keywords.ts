/** JSON Schema keywords that combine schemas. */

import type { SchemaObject } from './document.ts'
import { describeValue } from './json-schema.ts'
import type { KeywordContext } from './keyword.ts'
import { apply, type Check, issue, probe, type Run, wantsMore } from './run.ts'

export function* logicChecks(schema: SchemaObject, context: KeywordContext): Generator<Check> {
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
        if (!wantsMore(run)) return false
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
        // Further alternatives matter only if evaluated properties or items are recorded.
        if (!run.keys && !run.items) break
      }
      return count > 0 || explainAlternatives(any, value, run)
    }
  }
  const one = list('oneOf')
  if (one) {
    yield (value, run) => {
      let count = 0
      for (const check of one) {
        if (probe(check, value, run) && ++count > 1)
          return issue(run, () => 'matches more than one of the alternatives, expected exactly one')
      }
      return count === 1 || explainAlternatives(one, value, run)
    }
  }
  if ('not' in schema) {
    const not = context.compile(schema.not, 'not')
    yield (value, run) =>
      !probe(not, value, run) || issue(run, () => `matches a schema that it must not match, got ${describeValue(value)}`)
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

/** For a single alternative, reports its reasons. */
function explainAlternatives(checks: readonly Check[], value: unknown, run: Run): boolean {
  const [only] = checks
  if (run.issues && only && checks.length === 1) return apply(only, value, run)
  return issue(run, () => `matches none of the ${checks.length} alternatives, got ${describeValue(value)}`)
}
