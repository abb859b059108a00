/** Parses RFC 6570 templates. */

import { McpError } from '../errors.ts'
import { encode } from './encode.ts'

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&'

export interface Variable {
  name: string
  /** `*`: each item of a list or map is written separately. */
  isExploded: boolean
  /** `:n`: only the first n characters. */
  maxLength: number | undefined
}

export interface Expression {
  operator: Operator
  variables: Variable[]
}

/** Literal text, percent-encoded, or an expression. */
export type Part = string | Expression

const MAX_TEMPLATE_LENGTH = 2048
const MAX_EXPRESSIONS = 16

/** Throws ERR_DEFINITION with the position when the text is not a template or is too long. */
export function parseTemplate(template: string): Part[] {
  if (template.length > MAX_TEMPLATE_LENGTH) throw bad(template, `it is longer than ${MAX_TEMPLATE_LENGTH} characters`)
  const parts: Part[] = []
  let expressions = 0
  let at = 0
  while (at < template.length) {
    const open = template.indexOf('{', at)
    const literal = open < 0 ? template.slice(at) : template.slice(at, open)
    if (literal.includes('}')) throw bad(template, `"}" at ${at + literal.indexOf('}')} has no matching "{"`)
    if (literal !== '') parts.push(encode(literal, true))
    if (open < 0) break
    const close = template.indexOf('}', open)
    if (close < 0) throw bad(template, `"{" at ${open} is never closed`)
    if (++expressions > MAX_EXPRESSIONS) throw bad(template, `it has more than ${MAX_EXPRESSIONS} expressions`)
    parts.push(parseExpression(template.slice(open + 1, close), template))
    at = close + 1
  }
  return parts
}

function parseExpression(text: string, template: string): Expression {
  const first = text.charAt(0)
  const operator = '+#./;?&'.includes(first) ? (first as Operator) : ''
  if (operator === '' && '=,!@|'.includes(first))
    throw bad(template, first === '' ? '"{}" names no variable' : `the operator "${first}" is reserved`)
  const specs = text.slice(operator.length).split(',')
  return { operator, variables: specs.map((spec) => parseVariable(spec, template)) }
}

function parseVariable(spec: string, template: string): Variable {
  const match = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/.exec(spec)
  if (!match) throw bad(template, `"${spec}" is not a variable`)
  return { name: match[1] as string, isExploded: match[2] === '*', maxLength: match[3] === undefined ? undefined : Number(match[3]) }
}

const bad = (template: string, reason: string): McpError =>
  new McpError('ERR_DEFINITION', `Not a URI template: ${JSON.stringify(template.slice(0, 200))}: ${reason}`)

/** How each operator writes its values (RFC 6570, appendix A). */
export const OPERATORS: Readonly<
  Record<Operator, { first: string; separator: string; isNamed: boolean; ifEmpty: string; keepsReserved: boolean }>
> = {
  '': { first: '', separator: ',', isNamed: false, ifEmpty: '', keepsReserved: false },
  '+': { first: '', separator: ',', isNamed: false, ifEmpty: '', keepsReserved: true },
  '#': { first: '#', separator: ',', isNamed: false, ifEmpty: '', keepsReserved: true },
  '.': { first: '.', separator: '.', isNamed: false, ifEmpty: '', keepsReserved: false },
  '/': { first: '/', separator: '/', isNamed: false, ifEmpty: '', keepsReserved: false },
  ';': { first: ';', separator: ';', isNamed: true, ifEmpty: '', keepsReserved: false },
  '?': { first: '?', separator: '&', isNamed: true, ifEmpty: '=', keepsReserved: false },
  '&': { first: '&', separator: '&', isNamed: true, ifEmpty: '=', keepsReserved: false },
}
