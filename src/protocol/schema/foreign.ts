/** Schemas that come from a peer: bounded in every direction, and with expressions that run in linear time. */

import { type CompileOptions, compile, type Pattern, type Validate } from './compile.ts'
import { FOREIGN_SCHEMA_BOUNDS, openDocument, type SchemaBounds } from './document.ts'

/** Compiles a schema that cannot be trusted. An expression that has no linear-time form is dropped, not run. */
export async function compileForeign(schema: unknown, bounds: SchemaBounds = FOREIGN_SCHEMA_BOUNDS): Promise<Validate> {
  const options: CompileOptions = { bounds }
  // The engine is a quarter of a megabyte: loaded when the first expression is met, not before.
  if (openDocument(schema, bounds).hasPatterns) options.pattern = await linearPatterns()
  return compile(schema, options)
}

async function linearPatterns(): Promise<(source: string) => Pattern | undefined> {
  const { RE2JS } = await import('re2js')
  return (source) => {
    try {
      const expression = RE2JS.compile(RE2JS.translateRegExp(source))
      return { stepsPerCharacter: 4, test: (text) => expression.test(text) }
    } catch {
      return undefined
    }
  }
}
