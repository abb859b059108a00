/** JSON values as TypeScript. Secrets become names of environment variables, and values that change each time become patterns. */

import { isObject } from '../../base/json.ts'
import { isSecretName, redactText } from '../../base/text/redact.ts'

const WIDTH = 110

/** What a string becomes, if it is no plain literal. Undefined: a literal. */
export type Replace = (text: string, path: readonly string[]) => string | undefined

/** @param indent the blanks before the line that the value begins in */
export function literal(value: unknown, indent: number, replace: Replace, path: readonly string[] = []): string {
  if (typeof value === 'string') return replace(value, path) ?? quoted(value)
  if (typeof value !== 'object' || value === null)
    return isSecretPath(path) && typeof value === 'number' ? 'expect.any(Number)' : String(value)
  const parts = Array.isArray(value)
    ? value.map((each, at) => literal(each, indent + 2, replace, [...path, String(at)]))
    : Object.entries(value).map(([name, each]) => `${key(name)}: ${literal(each, indent + 2, replace, [...path, name])}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  const pad = Array.isArray(value) ? '' : ' '
  const line = `${open}${pad}${parts.join(', ')}${pad}${close}`
  if (line.length + indent <= WIDTH && !line.includes('\n')) return line
  const blanks = ' '.repeat(indent + 2)
  return `${open}\n${parts.map((part) => `${blanks}${part},\n`).join('')}${' '.repeat(indent)}${close}`
}

/** Letters that are not visible are escaped, so that the text shows what it contains. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'").replace(HIDDEN, escaped)}'`

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu

const escaped = (letter: string): string => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`

/** `__proto__` without brackets would set the prototype. */
const key = (name: string): string => (name === '__proto__' ? "['__proto__']" : /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

const isSecretPath = (path: readonly string[]): boolean => path.some(isSecretName)

/** Whether a text is a secret, or contains one that was hidden. */
const isSecret = (text: string, path: readonly string[]): boolean =>
  isSecretPath(path) || redactText(text) !== text || /\[redacted\]|\[\d+ characters hidden\]|\$\{/.test(text)

/** Times and random ids differ in each call. */
const CHANGES = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Longer texts are compared by their beginning. */
const MAX_TEXT = 2_000

/** What is expected in place of an answer's text. */
export const expectedText: Replace = (text, path) => {
  if (isSecret(text, path) || CHANGES.test(text)) return 'expect.any(String)'
  return text.length > MAX_TEXT ? `expect.stringContaining(${quoted(text.slice(0, MAX_TEXT))})` : undefined
}

/** Replaces secrets by `secret('NAME')`, and adds the names to a list. */
export const secretText =
  (names: Set<string>, prefix: string): Replace =>
  (text, path) => {
    if (!isSecret(text, path)) return undefined
    const name = [prefix, ...path]
      .join('_')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .toUpperCase()
    names.add(name)
    return `secret(${quoted(name)})`
  }

/** A large answer is checked by its kinds of content only. */
export const isLarge = (result: unknown): boolean => JSON.stringify(result).length > 20_000

/** The kinds of content of a result: `{ content: [{ type: 'text' }] }`. */
export function outline(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { content } = result
  return Array.isArray(content) ? { content: content.map((block) => (isObject(block) ? { type: block.type } : {})) } : {}
}
