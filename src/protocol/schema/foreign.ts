/** Compiles schemas from a peer, with limits and with regular expressions that run in linear time. */

import { type CompileOptions, compile, type Pattern, type Validate } from './compile.ts'
import { FOREIGN_SCHEMA_BOUNDS, openDocument, refused, type SchemaBounds } from './document.ts'

export type ForeignOptions = Pick<CompileOptions, 'bounds' | 'assertsFormats'>

/** Compiles an untrusted schema. Regular expressions without a linear-time form are dropped. */
export async function compileForeign(
  schema: unknown,
  { bounds = FOREIGN_SCHEMA_BOUNDS, assertsFormats = false }: ForeignOptions = {},
): Promise<Validate> {
  const options: CompileOptions = { bounds, assertsFormats }
  // The expression engine has 250 kB. It is loaded only when a schema contains a regular expression.
  if (openDocument(schema, bounds).hasPatterns) options.pattern = await linearPatterns(bounds)
  return compile(schema, options)
}

async function linearPatterns({ maxPatternSize }: SchemaBounds): Promise<(source: string) => Pattern | undefined> {
  const { RE2JS } = await import('re2js')
  let left = maxPatternSize
  return (source) => {
    const size = patternSize(source)
    left -= size
    if (left < 0)
      throw refused(`its regular expressions are too large: at most ${maxPatternSize} states with repetitions written out (maxPatternSize)`)
    try {
      const expression = RE2JS.compile(RE2JS.translateRegExp(source))
      // The time is linear in the text, and for some texts in the expression too.
      return { stepsPerCharacter: 4 + (size >> 3), test: (text) => expression.test(text) }
    } catch {
      return undefined
    }
  }
}

/** An estimate of the number of states, with repetitions such as `a{1000}` written out. The engine counts them too late. */
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
