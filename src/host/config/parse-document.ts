/** Parses JSON (with comments and trailing commas), YAML and TOML into plain values. Objects have no prototype. */

import { type ParseErrorCode, printParseErrorCode, visit as visitJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { isScalar, LineCounter, type Pair, parseDocument, visit } from 'yaml'
import { Refused } from './problem.ts'

export type Syntax = 'json' | 'yaml' | 'toml'

/** Parses the text of a file. Parser messages are replaced, because they quote the line, which may contain a secret. */
export function parse(text: string, syntax: Syntax, report: (where: string, text: string) => void): unknown {
  const plain = text.startsWith('\u{feff}') ? text.slice(1) : text
  try {
    return PARSERS[syntax](plain, report)
  } catch (error) {
    if (error instanceof Refused) throw error
    if (error instanceof RangeError) throw new Refused('', `The ${syntax.toUpperCase()} is nested too deeply`)
    throw new Refused('', `The file cannot be read as ${syntax.toUpperCase()}`)
  }
}

const PARSERS = { json: fromJson, yaml: fromYaml, toml: fromToml } satisfies Record<Syntax, unknown>

type Container = { value: Record<string, unknown> | unknown[]; name?: string }

/** Builds the value during the scan: the parser's own objects treat `__proto__` as a prototype and hide duplicate names. */
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
  if (fault !== undefined) throw new Refused('', `Invalid JSON (comments are allowed): ${fault}`)
  return root
}

const MAX_DEPTH = 64
const DOUBLED = 'The object has this name twice; the last one is used'
const MAX_ALIASES = 100

function fromYaml(text: string, report: (where: string, text: string) => void): unknown {
  const lines = new LineCounter()
  // uniqueKeys takes quadratic time, so reportDoubled looks for duplicates instead.
  const options = { lineCounter: lines, prettyErrors: false, merge: true, stringKeys: true, uniqueKeys: false, logLevel: 'silent' } as const
  const document = parseDocument(text, options)
  const [fault] = document.errors
  if (fault) {
    const { line, col } = lines.linePos(fault.pos[0])
    throw new Refused('', `Invalid YAML: line ${line}, column ${col}: ${fault.code}`)
  }
  let aliases = 0
  visit(document, {
    // Resolving an alias walks the document, so aliases are counted before they are resolved.
    Alias: () => {
      if (++aliases > MAX_ALIASES) throw new Refused('', `The YAML has more than ${MAX_ALIASES} aliases`)
    },
    Map: (_key, { items }) => reportDoubled(items, (offset) => report(`line ${lines.linePos(offset).line}`, DOUBLED)),
  })
  try {
    return unshared(document.toJS({ maxAliasCount: 10 * MAX_ALIASES }))
  } catch (error) {
    if (error instanceof ReferenceError) throw new Refused('', BAD_ALIASES)
    throw error
  }
}

const BAD_ALIASES = 'The YAML has an alias without an anchor, or aliases that expand to too many values'

function reportDoubled(items: readonly Pair[], found: (offset: number) => void): void {
  const names = new Set<unknown>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    // One mapping may have several merge keys.
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
    throw new Refused('', `Invalid TOML: line ${line}, column ${column}`)
  }
}

/** More values than a file of the maximum size can contain without aliases. */
const MAX_VALUES = 1_000_000

/** Copies into plain objects. Aliases can make a value contain itself, or repeat a large value: depth and count end both. */
function unshared(root: unknown): unknown {
  let count = 0
  const copyOf = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw new RangeError('too deep')
    if (++count > MAX_VALUES) throw new Refused('', BAD_ALIASES)
    if (Array.isArray(value)) return value.map((each) => copyOf(each, depth + 1))
    if (typeof value !== 'object' || value === null || value instanceof Date) return value
    const copy: Record<string, unknown> = Object.create(null)
    for (const [name, each] of Object.entries(value)) copy[name] = copyOf(each, depth + 1)
    return copy
  }
  return copyOf(root, 0)
}
