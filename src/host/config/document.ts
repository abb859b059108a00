/** Text to a plain value: JSON with comments and trailing commas, YAML, TOML. Objects in it have no prototype to be confused with. */

import { type ParseErrorCode, printParseErrorCode, visit as visitJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml'
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
  visitJson(
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
        if (name in around.value) report(`line ${line + 1}`, DOUBLED)
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
const DOUBLED = 'A name stands twice in the same object; what comes last counts'
const MAX_ALIASES = 100

function fromYaml(text: string, report: (where: string, text: string) => void): unknown {
  const lines = new LineCounter()
  // The parser compares each name of a mapping with each other; it is done below, in less time.
  const options = { lineCounter: lines, prettyErrors: false, merge: true, stringKeys: true, uniqueKeys: false, logLevel: 'silent' } as const
  const document = parseDocument(text, options)
  const [fault] = document.errors
  if (fault) {
    const { line, col } = lines.linePos(fault.pos[0])
    throw new Refused('', `It is not YAML: line ${line}, column ${col}: ${fault.code}`)
  }
  let aliases = 0
  visit(document, {
    // Each costs a walk through the document, so they are counted before they are followed.
    Alias: () => {
      if (++aliases > MAX_ALIASES) throw new Refused('', `It has more than ${MAX_ALIASES} aliases`)
    },
    Map: (_key, { items }) => reportDoubled(items, (offset) => report(`line ${lines.linePos(offset).line}`, DOUBLED)),
  })
  try {
    return unshared(document.toJS({ maxAliasCount: 10 * MAX_ALIASES }))
  } catch (error) {
    if (error instanceof ReferenceError) throw new Refused('', 'Its aliases stand for nothing, or for too much')
    throw error
  }
}

function reportDoubled(items: readonly Pair[], found: (offset: number) => void): void {
  const names = new Set<unknown>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    // Several things may be merged into one mapping.
    if (names.has(key.value) && key.value !== '<<') found(key.range?.[0] ?? 0)
    names.add(key.value)
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

/** More than a file of the largest size has, if each thing in it is counted once. */
const MAX_VALUES = 1_000_000

/** A copy in plain objects. An alias may stand for a thing that holds the alias, or for a large one again and again: both end. */
function unshared(root: unknown): unknown {
  let count = 0
  const copyOf = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new RangeError('too deep')
    if (++count > MAX_VALUES) throw new Refused('', 'Its aliases stand for nothing, or for too much')
    if (Array.isArray(value)) return value.map((each) => copyOf(each, depth + 1))
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    const copy: Record<string, unknown> = Object.create(null)
    for (const [name, each] of Object.entries(value)) copy[name] = copyOf(each, depth + 1)
    return copy
  }
  return copyOf(root, 0)
}
