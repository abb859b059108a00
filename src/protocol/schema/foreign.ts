/** Schemas that come from a peer: bounded in every direction, and with expressions that run in linear time. */

import { type CompileOptions, compile, type Pattern, type Validate } from './compile.ts'
import { FOREIGN_SCHEMA_BOUNDS, openDocument, refused, type SchemaBounds } from './document.ts'

export type ForeignOptions = Pick<CompileOptions, 'bounds' | 'assertsFormats'>

/** Compiles a schema that cannot be trusted. An expression that has no linear-time form is dropped, not run. */
export async function compileForeign(
  schema: unknown,
  { bounds = FOREIGN_SCHEMA_BOUNDS, assertsFormats = false }: ForeignOptions = {},
): Promise<Validate> {
  const options: CompileOptions = { bounds, assertsFormats }
  // The engine is a quarter of a megabyte: loaded when the first expression is met, not before.
  if (openDocument(schema, bounds).hasPatterns) options.pattern = await linearPatterns(bounds)
  return compile(schema, options)
}

async function linearPatterns({ maxPatternSize }: SchemaBounds): Promise<(source: string) => Pattern | undefined> {
  const { RE2JS } = await import('re2js')
  let left = maxPatternSize
  return (source) => {
    const size = patternSize(source)
    left -= size
    if (left < 0) throw refused(`its regular expressions are larger than ${maxPatternSize} (maxPatternSize)`)
    try {
      const expression = RE2JS.compile(RE2JS.translateRegExp(source))
      // Linear in the text, and for some texts in the expression as well.
      return { stepsPerCharacter: 4 + (size >> 3), test: (text) => expression.test(text) }
    } catch {
      return undefined
    }
  }
}

/** How many states an expression has once `a{1000}` is written out, about: the engine's own count comes too late. */
export function patternSize(source: string): number {
  const outer: number[] = []
  let size = 0
  let atom = 0
  const atoms = source.matchAll(/\\(?:[pPux]\{[^}]{0,64}\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|[\s\S]/g)
  for (const [text, fewest, most] of atoms) {
    if (text === '(') {
      outer.push(size)
      size = 0
    } else if (text === ')') {
      atom = size + 2
      size = (outer.pop() ?? 0) + atom
    } else if (fewest !== undefined) {
      const repeated = atom * Math.max(Number(fewest), Number(most ?? 0), 1)
      size += repeated - atom
      atom = repeated
    } else {
      atom = 1
      size += 1
    }
  }
  return outer.reduce((sum, each) => sum + each, size)
}
