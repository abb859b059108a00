/** Text to a plain value: JSON with comments and trailing commas, YAML, TOML. Objects in it have no prototype to be confused with. */

import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { LineCounter, parseDocument } from 'yaml'
import { Refused } from './problem.ts'

export type Syntax = 'json' | 'yaml' | 'toml'

/** What messages of parsers say is not passed on: they quote the line, and a secret may stand in it. */
export function parse(text: string, syntax: Syntax, report: (where: string, text: string) => void): unknown {
  const plain = text.startsWith('\u{feff}') ? text.slice(1) : text
  try {
    return PARSERS[syntax](plain, report)
  } catch (error) {
    if (error instanceof Refused) throw error
    if (error instanceof RangeError) throw new Refused('', `It is nested too deep to be read as ${syntax.toUpperCase()}`)
    throw new Refused('', `It cannot be read as ${syntax.toUpperCase()}`)
  }
}

const PARSERS = { json: fromJson, yaml: fromYaml, toml: fromToml } satisfies Record<Syntax, unknown>

type Container = { value: Record<string, unknown> | unknown[]; name?: string }

/** Built while it is read, because the parser's own objects take `__proto__` for a prototype and say nothing of doubled names. */
function fromJson(text: string, report: (where: string, text: string) => void): unknown {
  const open: Container[] = []
  let root: unknown
  let fault: string | undefined
  const put = (value: unknown): void => {
    const around = open.at(-1)
    if (!around) root = value
    else if (Array.isArray(around.value)) around.value.push(value)
    else if (around.name !== undefined) around.value[around.name] = value
  }
  const begin = (value: Record<string, unknown> | unknown[]): void => {
    put(value)
    if (open.push({ value }) > MAX_DEPTH) throw new RangeError('too deep')
  }
  const end = (): void => void open.pop()
  visit(
    text,
    {
      onObjectBegin: () => begin(Object.create(null)),
      onObjectEnd: end,
      onArrayBegin: () => begin([]),
      onArrayEnd: end,
      onLiteralValue: put,
      onObjectProperty: (name, _offset, _length, line) => {
        const around = open.at(-1)
        if (!around || Array.isArray(around.value)) return
        if (name in around.value) report(`line ${line + 1}`, 'A name stands twice in the same object; what comes last counts')
        around.name = name
      },
      onError: (error: ParseErrorCode, _offset, _length, line, column) => {
        fault ??= `line ${line + 1}, column ${column + 1}: ${printParseErrorCode(error)}`
      },
    },
    { allowTrailingComma: true },
  )
  if (fault !== undefined) throw new Refused('', `It is not JSON, not even with comments: ${fault}`)
  return root
}

const MAX_DEPTH = 64
const MAX_ALIASES = 100

function fromYaml(text: string, report: (where: string, text: string) => void): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, logLevel: 'silent', stringKeys: true })
  const [fault] = document.errors
  if (fault) {
    const { line, col } = lines.linePos(fault.pos[0])
    // The first doubled name is where it is; the rest of the file is as good as it was.
    if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) {
      throw new Refused('', `It is not YAML: line ${line}, column ${col}: ${fault.code}`)
    }
    report(`line ${line}`, 'A name stands twice in the same mapping; what comes last counts')
  }
  try {
    return unshared(document.toJS({ maxAliasCount: MAX_ALIASES }))
  } catch (error) {
    if (error instanceof ReferenceError) throw new Refused('', `It has more than ${MAX_ALIASES} uses of aliases, or one of nothing`)
    throw error
  }
}

function fromToml(text: string): unknown {
  try {
    return unshared(parseToml(text))
  } catch (error) {
    const { line, column } = error as { line?: unknown; column?: unknown }
    if (typeof line !== 'number' || typeof column !== 'number') throw error
    throw new Refused('', `It is not TOML: line ${line}, column ${column}`)
  }
}

/** A copy in plain objects. An alias may stand for a thing that holds the alias: that ends at a depth. */
function unshared(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError('too deep')
  if (Array.isArray(value)) return value.map((each) => unshared(each, depth + 1))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const copy: Record<string, unknown> = Object.create(null)
  for (const [name, each] of Object.entries(value)) copy[name] = unshared(each, depth + 1)
  return copy
}
