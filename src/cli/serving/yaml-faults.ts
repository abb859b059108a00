/** Says what is wrong with the YAML of a file, and in which line. The parser has only codes, and places where it noticed. */

import { type Document, isCollection, isPair, isScalar, type LineCounter, type YAMLError } from 'yaml'

export interface YamlFault {
  line: number
  words: string
}

const NO_NAME = 'expected a name, a colon and a space, such as "port: 3000"'
const NOT_CLOSED = 'a "[" or "{" is not closed'

/** Faults that say nothing about the rest of the file. A tag that the parser does not know would leave the value as text. */
const ALONE: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the name is there twice',
  TAG_RESOLVE_FAILED: 'tags such as !name are not read; write the value itself',
}

/** By code, and by the beginning of the parser's message where one code means several things. The messages themselves may quote a secret. */
const WORDS: readonly (readonly [code: string, message: string, words: string])[] = [
  ['TAB_AS_INDENT', '', 'lines must begin with spaces, not with tabs'],
  ['BAD_INDENT', 'Flow', NOT_CLOSED],
  ['BAD_INDENT', '', 'names of one level must begin in the same column'],
  ['BLOCK_AS_IMPLICIT_KEY', '', 'a value that contains ": " needs quotes'],
  ['BLOCK_IN_FLOW', '', 'a comma or a closing bracket is missing'],
  ['MULTILINE_IMPLICIT_KEY', '', NO_NAME],
  ['MISSING_CHAR', 'Missing closing', 'a quote is not closed'],
  ['MISSING_CHAR', 'Missing ,', 'a comma or a colon is missing'],
  ['MISSING_CHAR', 'Flow', NOT_CLOSED],
  ['MISSING_CHAR', 'Comments', 'a space is missing before "#"'],
  ['MISSING_CHAR', '', NO_NAME],
  ['BAD_SCALAR_START', '', 'a value that begins with @, % or ` needs quotes'],
  ['BAD_DQ_ESCAPE', '', 'a backslash in double quotes must be doubled; in single quotes it is a plain character'],
  ['UNEXPECTED_TOKEN', '', 'not valid YAML or JSON; quotes or a bracket may be missing'],
  ['', '', 'not valid YAML or JSON'],
]

export function yamlFaults(document: Document.Parsed, text: string, lines: LineCounter): YamlFault[] {
  const all: readonly YAMLError[] = [...document.errors, ...document.warnings]
  const lineAt = (at: number): number => lines.linePos(at).line
  const alone = all.flatMap(({ code, pos }) => (ALONE[code] === undefined ? [] : [{ line: lineAt(pos[0]), words: ALONE[code] }]))
  // The other ones follow from the first, or say it less well.
  const first = all.find(({ code }) => code === 'BLOCK_IN_FLOW') ?? all.find(({ code }) => ALONE[code] === undefined)
  if (!first) return alone
  const tooFarRight = first.code === 'BLOCK_AS_IMPLICIT_KEY' && all.find(isOverLines)
  if (tooFarRight) {
    return [...alone, { line: lineAt(tooFarRight.pos[1] - 1), words: 'the line begins further right than the one before it' }]
  }
  const [, , words] = WORDS.find(([code, message]) => first.code.startsWith(code) && first.message.startsWith(message)) as (typeof WORDS)[0]
  return [...alone, { line: lineAt(placeOf(first, document, text)), words }]
}

/** A name that the parser saw begin in the line before: the value of that line. */
const isOverLines = ({ code }: YAMLError): boolean => code === 'MULTILINE_IMPLICIT_KEY'

/** The parser notices what is not closed at the end of the file, or at the next line. */
function placeOf({ code, message, pos: [at] }: YAMLError, document: Document.Parsed, text: string): number {
  if (message.startsWith('Missing closing')) return startOfLast(document.contents) ?? at
  const isUnclosed = message.startsWith('Flow') && (code === 'BAD_INDENT' || code === 'MISSING_CHAR')
  return isUnclosed ? Math.max(0, text.slice(0, at).trimEnd().length - 1) : at
}

/** A text without its second quote is the rest of the file. */
function startOfLast(node: unknown): number | undefined {
  if (isPair(node)) return startOfLast(node.value ?? node.key)
  if (isCollection(node)) return startOfLast(node.items.at(-1))
  return isScalar(node) ? node.range?.[0] : undefined
}
