/** The operators that rules and grants test arguments with. */

import { isAbsolute, relative, resolve, sep } from 'node:path'
import ipaddr from 'ipaddr.js'
import { RE2JS } from 're2js'
import { innerAddress } from '../../base/address/ip-address.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { McpError } from '../../protocol/errors.ts'
import { compile } from '../../protocol/schema/compile.ts'
import { FOREIGN_SCHEMA_BOUNDS } from '../../protocol/schema/document.ts'
import { isEqual } from '../../protocol/schema/equality.ts'
import { patternSize } from '../../protocol/schema/foreign.ts'
import type { Action } from '../model/action.ts'
import type { ArgumentRules, ArgumentTest } from '../model/rule.ts'
import { type Pointer, parsePointer, select } from './pointer.ts'
import { narrowGlob, wideGlob } from './spellings.ts'

/** Undefined: the value has the right type, but its meaning is ambiguous (for example an unusual URL). */
export type Verdict = boolean | undefined

export interface Found {
  pointer: string
  value: unknown
  realPath: string | undefined
}

/**
 * How patterns match texts that can be written in several ways. `narrow`, for rules that allow: every form must match. `wide`, for
 * rules that deny or ask: one form is enough.
 */
export type Reach = 'narrow' | 'wide'

export type ValueTest = (found: Found) => Verdict

export interface CompiledArgument {
  pointer: Pointer
  /** The test as written, for display. */
  expected: string
  isPath: boolean
  test: ValueTest
}

/** The real paths of the folders in `within`. */
export interface Folders {
  /** Values of `${root:NAME}`. */
  roots: Readonly<Record<string, string>>
  /** Real paths by folder as written. A folder that is not in the map is used as written. */
  real: ReadonlyMap<string, string>
}

/** Maximum size of an expression with its repetitions expanded, so that compiling it stays cheap. */
const MAX_EXPRESSION_SIZE = 10_000

/** A policy is compiled once to check it and again to use it. */
const compiled = new BoundedMap<string, RE2JS>(500)

const ROOT = /^\$\{root:([^}]+)\}(?:[/\\](.*))?$/

/** Compiles the argument tests of a rule or grant. @throws McpError ERR_CONFIG for an invalid test */
export function compileArguments(rules: ArgumentRules, folders: Folders, reach: Reach = 'narrow'): CompiledArgument[] {
  return Object.entries(rules).map(([text, test]) => ({
    pointer: parsePointer(text),
    expected: JSON.stringify(test),
    isPath: test.within !== undefined,
    test: compileTest(test, folders, text, reach),
  }))
}

/**
 * Tests the values at a pointer. `all`: there is at least one value, and all pass. `some`: at least one passes. `some-or-none`: like
 * `some`, but also true if there is no value at the pointer.
 */
export function judgeArgument({ pointer, test }: CompiledArgument, action: Action, quantifier: 'all' | 'some' | 'some-or-none'): Verdict {
  const { found, isIncomplete } = select(action.args, pointer)
  if (quantifier === 'all' && (isIncomplete || found.length === 0)) return false
  if (found.length === 0) return quantifier === 'some-or-none'
  let isUnsure = false
  for (const { pointer: at, value } of found) {
    const realPath = Object.hasOwn(action.realPaths, at) ? action.realPaths[at] : undefined
    const verdict = test({ pointer: at, value, realPath })
    if (verdict === undefined) isUnsure = true
    else if (verdict !== (quantifier === 'all')) return verdict
  }
  return isUnsure ? undefined : quantifier === 'all'
}

function compileTest(test: ArgumentTest, folders: Folders, where: string, reach: Reach): ValueTest {
  const tests: ValueTest[] = []
  // By presence, not by value: `eq: null` is a valid test.
  if (Object.hasOwn(test, 'eq')) tests.push(({ value }) => isEqual(value, test.eq))
  if (test.in) tests.push(({ value }) => test.in?.some((each) => isEqual(value, each)))
  if (test.glob !== undefined) tests.push(onText(reach === 'wide' ? wideGlob(test.glob) : narrowGlob(test.glob)))
  if (test.re2 !== undefined) tests.push(onText(expressionTest(test.re2, where)))
  if (test.within !== undefined) tests.push(withinTest(test.within, folders, where))
  if (test.hostIn) tests.push(hostTest(test.hostIn, where))
  if (test.cidr) tests.push(rangeTest(test.cidr, where))
  if (test.len) tests.push(lengthTest(test.len))
  if (test.min !== undefined || test.max !== undefined) tests.push(numberTest(test))
  if (test.schema) tests.push(schemaTest(test.schema, where))
  if (tests.length === 0)
    throw new McpError('ERR_CONFIG', `The test of ${JSON.stringify(where)} is empty: expected an operator such as "eq"`)
  const [only] = tests
  if (only && tests.length === 1) return only
  return (found) => {
    let isUnsure = false
    for (const each of tests) {
      const verdict = each(found)
      if (verdict === false) return false
      if (verdict === undefined) isUnsure = true
    }
    return isUnsure ? undefined : true
  }
}

const onText =
  (test: (text: string) => Verdict): ValueTest =>
  ({ value }) =>
    typeof value === 'string' && test(value)

function expressionTest(source: string, where: string): (text: string) => boolean {
  if (patternSize(source) > MAX_EXPRESSION_SIZE) {
    throw new McpError(
      'ERR_CONFIG',
      `The expression at ${JSON.stringify(where)} is too large: expected at most ${MAX_EXPRESSION_SIZE} with its repetitions expanded`,
    )
  }
  try {
    const expression = compiled.get(source) ?? RE2JS.compile(source)
    compiled.set(source, expression)
    return (text) => expression.test(text)
  } catch (cause) {
    throw new McpError('ERR_CONFIG', `Expected RE2 syntax at ${JSON.stringify(where)}, got ${JSON.stringify(source)}`, { cause })
  }
}

function withinTest(within: string | readonly string[], folders: Folders, where: string): ValueTest {
  const known: string[] = []
  let isWhole = true
  for (const written of [within].flat()) {
    const folder = resolveFolder(written, folders, where)
    if (folder === undefined) isWhole = false
    else known.push(folder)
  }
  return ({ value, realPath }) => {
    if (typeof value !== 'string') return false
    if (realPath === undefined) return undefined
    if (known.some((folder) => isInside(folder, realPath))) return true
    return isWhole ? false : undefined
  }
}

/** The real path of a folder. Undefined: a root that is not granted. */
function resolveFolder(written: string, { roots, real }: Folders, where: string): string | undefined {
  const [, name, rest = ''] = ROOT.exec(written) ?? []
  if (name !== undefined) return Object.hasOwn(roots, name) ? resolve(roots[name] as string, rest) : undefined
  if (!isAbsolute(written)) {
    throw new McpError(
      'ERR_CONFIG',
      `Expected an absolute folder or \${root:NAME} at ${JSON.stringify(where)}, got ${JSON.stringify(written)}`,
    )
  }
  return resolve(real.get(written) ?? written)
}

function isInside(folder: string, path: string): boolean {
  if (!isAbsolute(path)) return false
  const below = relative(folder, path)
  return below === '' || (below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below))
}

/** Schemes for which all URL parsers find the same host. */
const HOSTED = new Set(['http:', 'https:', 'ws:', 'wss:', 'ftp:'])

/** Parses a URL. Undefined: another parser may find another host in it. */
function hostedUrl(text: string): URL | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: parsers disagree about control characters
  if (/[\u0000-\u0020\\\u007f]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return HOSTED.has(url.protocol) ? url : undefined
}

const USUAL_PORTS: ReadonlyMap<string, string> = new Map([
  ['http:', '80'],
  ['ws:', '80'],
  ['https:', '443'],
  ['wss:', '443'],
  ['ftp:', '21'],
])

/** The port of a URL, or the default port of its scheme. */
export const effectivePort = ({ port, protocol }: URL): string => port || (USUAL_PORTS.get(protocol) ?? '')

const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '')

function hostTest(hosts: readonly string[], where: string): ValueTest {
  const tests = hosts.map((written) => {
    const isBelow = written.startsWith('*.')
    const bare = isBelow ? written.slice(2) : written
    if (bare === '' || /[*/@?#\s]/.test(bare) || !URL.canParse(`http://${bare}`)) {
      throw new McpError(
        'ERR_CONFIG',
        `Expected a host such as "example.com" or "*.example.com" at ${JSON.stringify(where)}, got ${JSON.stringify(written)}`,
      )
    }
    const name = withoutDot(new URL(`http://${bare}`).hostname)
    // Read from the text: URL drops the default port of its scheme, so `x:80` would match every port.
    const port = /:(\d{1,5})$/.exec(bare)?.[1]
    return (url: URL): boolean => {
      const got = withoutDot(url.hostname)
      return (isBelow ? got.endsWith(`.${name}`) : got === name) && (port === undefined || effectivePort(url) === String(Number(port)))
    }
  })
  return onText((text) => {
    const url = hostedUrl(text)
    return url === undefined ? undefined : tests.some((test) => test(url))
  })
}

function rangeTest(ranges: readonly string[], where: string): ValueTest {
  const parsed = ranges.map((range) => {
    if (!ipaddr.isValidCIDR(range)) {
      throw new McpError(
        'ERR_CONFIG',
        `Expected an address range such as "10.0.0.0/8" at ${JSON.stringify(where)}, got ${JSON.stringify(range)}`,
      )
    }
    return ipaddr.parseCIDR(range)
  })
  return onText((text) => {
    // A host name never matches: its address is not known here.
    const bare = /^[\w.-]+$/.test(text) || ipaddr.isValid(text) ? text : hostedUrl(text)?.hostname.replace(/^\[|\]$/g, '')
    if (bare === undefined) return undefined
    if (!ipaddr.isValid(bare)) return false
    const address = innerAddress(ipaddr.parse(bare))
    return parsed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  })
}

function lengthTest({ min = 0, max = Number.POSITIVE_INFINITY }: { min?: number; max?: number }): ValueTest {
  return ({ value }) => (typeof value === 'string' || Array.isArray(value)) && value.length >= min && value.length <= max
}

function numberTest({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: ArgumentTest): ValueTest {
  return ({ value }) => typeof value === 'number' && value >= min && value <= max
}

function schemaTest(schema: Readonly<Record<string, unknown>>, where: string): ValueTest {
  const validate = compile(schema, {
    bounds: FOREIGN_SCHEMA_BOUNDS,
    assertsFormats: true,
    pattern: (source) => ({ stepsPerCharacter: 4, test: expressionTest(RE2JS.translateRegExp(source), where) }),
  })
  return ({ value }) => validate(value).ok
}
