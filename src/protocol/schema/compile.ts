/**
 * Compiles a JSON Schema to a function. It builds closures instead of generated code, so that it runs where `eval` is not
 * allowed, and counts steps, so that a schema from a peer cannot block the event loop.
 */

import { knownKeywords } from './dialect.ts'
import {
  isSchemaObject,
  OWN_SCHEMA_BOUNDS,
  openDocument,
  type Place,
  refused,
  type SchemaBounds,
  type SchemaDocument,
  type SchemaObject,
} from './document.ts'
import { type Checked, describeValue, type Issue } from './json-schema.ts'
import type { KeywordContext, Pattern } from './keyword.ts'
import { keywordChecks } from './keywords.ts'
import { apply, type Check, enterRef, issue, newRun, restart, spend, spendOn, wantsMore } from './run.ts'

export type { Pattern } from './keyword.ts'

export interface CompileOptions {
  bounds?: SchemaBounds
  /** Creates a regular expression; undefined drops its keyword. Default: native expressions. */
  pattern?(source: string): Pattern | undefined
  /** Whether known formats are checked. Default: false. */
  assertsFormats?: boolean
}

export type Validate = (value: unknown) => Checked

/** Throws ERR_SCHEMA when the schema is refused. The returned function throws it when a value takes too many steps. */
export function compile(schema: unknown, options: CompileOptions = {}): Validate {
  const bounds = options.bounds ?? OWN_SCHEMA_BOUNDS
  const document = openDocument(schema, bounds)
  const check = compileDocument(document, options)
  // One run object is reused for all values. Runs never overlap.
  const run = newRun(bounds.maxSteps)
  return (value) => {
    restart(run)
    if (check(value, run)) return { ok: true, value }
    return { ok: false, issues: reasons(check, value, bounds.maxSteps) }
  }
}

/** The value is already known to be invalid. Running out of steps here only means fewer reasons. */
function reasons(check: Check, value: unknown, maxSteps: number): Issue[] {
  const issues: Issue[] = []
  try {
    check(value, newRun(maxSteps, issues))
  } catch {
    if (issues.length === 0) issues.push({ path: [], message: `does not match the schema, got ${describeValue(value)}` })
  }
  return issues
}

function compileDocument(document: SchemaDocument, options: CompileOptions): Check {
  const compiled = new Map<SchemaObject, Check>()

  const compileNode = (schema: unknown, base: string, where: string): Check => {
    if (schema === true) return always
    if (schema === false) return never
    if (!isSchemaObject(schema)) throw refused(`"${where}" holds ${JSON.stringify(schema)}, which is not a schema`)
    const known = compiled.get(schema)
    if (known) return known
    let check: Check = never
    // A schema may refer to itself. Until it is compiled, references call through this function.
    compiled.set(schema, (value, run) => check(value, run))
    check = compileObject(schema, document.baseOf(schema, base))
    compiled.set(schema, check)
    return check
  }

  const compileObject = (written: SchemaObject, base: string): Check => {
    const schema = knownKeywords(written, document.dialect)
    const checks: Check[] = []
    const { $ref, $dynamicRef, $recursiveRef } = schema
    if (typeof $ref === 'string') checks.push(reference(document.resolve($ref, base)))
    if (typeof $dynamicRef === 'string') checks.push(dynamicReference($dynamicRef, base))
    if (typeof $recursiveRef === 'string') checks.push(dynamicReference('#', base))
    if (checks.length === 0 || !document.dialect.refStandsAlone) {
      const context: KeywordContext = {
        dialect: document.dialect,
        compile: (each, where) => compileNode(each, base, where),
        pattern: options.pattern ?? nativePattern,
        assertsFormats: options.assertsFormats ?? false,
      }
      checks.push(...keywordChecks(schema, context))
    }
    return together(checks, base, schema)
  }

  const reference = (place: Place): Check => {
    const target = compileNode(place.schema, place.base, '$ref')
    return (value, run) => {
      enterRef(run)
      const ok = apply(target, value, run)
      run.refs--
      return ok
    }
  }

  // The static target gives the name. The outermost resource that has a dynamic anchor of this name gives the schema.
  const dynamicReference = (ref: string, base: string): Check => {
    const initial = document.resolve(ref, base)
    const name = ref.slice(ref.indexOf('#') + 1)
    const isDynamic = document.dynamicAnchor(initial.base, name)?.schema === initial.schema
    if (!isDynamic) return reference(initial)
    return (value, run) => {
      let place = initial
      spendOn(run, run.scope.length)
      for (const resource of run.scope) {
        const found = document.dynamicAnchor(resource, name)
        if (!found) continue
        place = found
        break
      }
      enterRef(run)
      const ok = apply(compileNode(place.schema, place.base, '$dynamicRef'), value, run)
      run.refs--
      return ok
    }
  }

  return compileNode(document.root, document.rootBase, '#')
}

function together(checks: readonly Check[], base: string, schema: SchemaObject): Check {
  const starts = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema
  return (value, run) => {
    spend(run, 1)
    const isNewResource = run.scope.at(-1) !== base
    if (isNewResource) run.scope.push(base)
    const { keys, items } = run
    if (starts) {
      run.keys ??= new Set()
      run.items ??= new Set()
    }
    let ok = true
    for (const check of checks) {
      if (check(value, run)) continue
      ok = false
      if (!wantsMore(run)) break
    }
    if (starts && !keys) {
      run.keys = keys
      run.items = items
    }
    if (isNewResource) run.scope.pop()
    return ok
  }
}

const always: Check = (_value, run) => {
  spend(run, 1)
  return true
}

const never: Check = (_value, run) => {
  spend(run, 1)
  return issue(run, () => 'no value is allowed here')
}

function nativePattern(source: string): Pattern {
  try {
    return withNoCost(new RegExp(source, 'u'))
  } catch {
    try {
      return withNoCost(new RegExp(source))
    } catch (cause) {
      throw refused(`"pattern" ${JSON.stringify(source)} is not a regular expression (${(cause as Error).message})`)
    }
  }
}

const withNoCost = (expression: RegExp): Pattern => ({ stepsPerCharacter: 0, test: (text) => expression.test(text) })
