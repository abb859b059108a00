/** Text of a server in code: it cannot end a comment or a string, or become code in another way. */

import { visibleText } from '../../base/text/visible-text.ts'

const MAX_COMMENT = 1000

/** A string literal. Everything but plain ASCII is escaped. */
export const literal = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}'`

/** A JSDoc comment, or nothing for no text. @param indent the spaces before each line */
export function comment(text: string | undefined, indent = ''): string {
  const shown = visibleText((text ?? '').slice(0, MAX_COMMENT), { multiline: true })
    .replaceAll('\r', '')
    .replaceAll('*/', '*\\/')
    .trim()
  if (shown === '') return ''
  // A tag such as @deprecated would change how editors show the function.
  const lines = shown.split('\n').map((line) => line.trimEnd().replace(/(^|[\s*/{])@/g, '$1\\@'))
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

/** The name of a member: plain if it is an identifier. */
export const memberName = (name: string): string => (/^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : literal(name))

/** Words that cannot name a function, and names that the module uses itself. */
const RESERVED = new Set(
  (
    'arguments await break case catch class client const continue debugger default delete do else enum eval export extends false finally for ' +
    'function if implements import in instanceof interface let new null package private protected public return static super switch this ' +
    'throw true try typeof undefined var void while with yield args options ' +
    // CommonJS modules have these already.
    'exports module require'
  ).split(' '),
)

const MAX_NAME = 64

/** Identifiers for the names of tools, each used once. */
export class Identifiers {
  readonly #used = new Set<string>()

  /** `get-weather` becomes `getWeather`. A second tool of the same identifier gets a number. */
  add(name: string): string {
    const words = name
      .slice(0, 200)
      .split(/[^A-Za-z0-9]+/)
      .filter((word) => word !== '')
    const joined = words
      .map((word, i) => (i === 0 ? lowerFirst(word) : upperFirst(word)))
      .join('')
      .slice(0, MAX_NAME)
    const base = joined === '' ? 'tool' : /^[0-9]/.test(joined) ? `tool${joined}` : RESERVED.has(joined) ? `${joined}Tool` : joined
    let identifier = base
    for (let i = 2; this.#used.has(identifier.toLowerCase()); i += 1) identifier = `${base}_${i}`
    this.#used.add(identifier.toLowerCase())
    return identifier
  }
}

export const upperFirst = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
const lowerFirst = (word: string): string => word.slice(0, 1).toLowerCase() + word.slice(1)
