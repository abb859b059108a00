/** Puts the arguments of a call into the URL, the headers and the body of a request. */

import { isObject } from '../base/json.ts'
import { ToolError } from '../protocol/errors.ts'
import type { Parameter, ReadOperation } from './document.ts'

export interface BuiltRequest {
  url: URL
  headers: Headers
  body: string | undefined
}

type Arguments = Readonly<Record<string, unknown>>

/** @param names the name of each parameter among the arguments */
export function buildRequest(operation: ReadOperation, base: string, args: Arguments, names: ReadonlyMap<Parameter, string>): BuiltRequest {
  const query: string[] = []
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.1' })
  let { path } = operation
  for (const parameter of operation.parameters) {
    const name = names.get(parameter) as string
    // Own members only: an argument may be named like a function that every object has.
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (parameter.in === 'path' && (value === undefined || value === null))
      throw new ToolError(`The argument ${JSON.stringify(name)} is missing: it is a part of the path`)
    if (value === undefined || value === null) continue
    if (parameter.in === 'path') path = path.replaceAll(`{${parameter.name}}`, pathPart(parameter, value))
    else if (parameter.in === 'header') headers.set(parameter.name, headerValue(parameter, value))
    else query.push(...queryParts(parameter, value))
  }
  const url = new URL(base + path)
  // Some descriptions have a query in the path.
  if (query.length > 0) url.search = [url.search.slice(1), ...query].filter((each) => each !== '').join('&')
  const body = bodyOf(operation, args)
  if (body !== undefined && operation.body) headers.set('content-type', operation.body.type)
  return { url, headers, body }
}

const encode = encodeURIComponent

const textOf = (value: unknown): string => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))

function pathPart(parameter: Parameter, value: unknown): string {
  const text = parameter.style === 'json' ? JSON.stringify(value) : simple(parameter, value, encode)
  const whole = parameter.style === 'label' ? `.${text}` : parameter.style === 'matrix' ? `;${encode(parameter.name)}=${text}` : text
  // These would name another path of the API.
  if (whole === '' || whole === '.' || whole === '..')
    throw new ToolError(`The argument ${JSON.stringify(parameter.name)} cannot be ${JSON.stringify(value)}: it is a part of the path`)
  return parameter.style === 'json' ? encode(whole) : whole
}

function headerValue(parameter: Parameter, value: unknown): string {
  const text = parameter.style === 'json' ? JSON.stringify(value) : simple(parameter, value, (part) => part)
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text))
    throw new ToolError(`The argument ${JSON.stringify(parameter.name)} has characters that a header cannot have`)
  return text
}

function simple({ explode }: Parameter, value: unknown, write: (text: string) => string): string {
  if (Array.isArray(value)) return value.map((each) => write(textOf(each))).join(',')
  if (!isObject(value)) return write(String(value))
  return Object.entries(value)
    .map(([key, each]) => `${write(key)}${explode ? '=' : ','}${write(textOf(each))}`)
    .join(',')
}

const SEPARATORS: Readonly<Record<string, string>> = { form: ',', spaceDelimited: '%20', pipeDelimited: '|' }

function queryParts({ name, style, explode }: Parameter, value: unknown): string[] {
  const key = encode(name)
  if (style === 'json') return [`${key}=${encode(JSON.stringify(value))}`]
  if (Array.isArray(value)) {
    const parts = value.map((each) => encode(textOf(each)))
    return explode ? parts.map((part) => `${key}=${part}`) : [`${key}=${parts.join(SEPARATORS[style] ?? ',')}`]
  }
  if (!isObject(value)) return [`${key}=${encode(String(value))}`]
  const entries = Object.entries(value)
  if (style === 'deepObject') return entries.map(([each, part]) => `${key}${encode(`[${each}]`)}=${encode(textOf(part))}`)
  if (explode) return entries.map(([each, part]) => `${encode(each)}=${encode(textOf(part))}`)
  return [`${key}=${entries.flatMap(([each, part]) => [encode(each), encode(textOf(part))]).join(',')}`]
}

function bodyOf({ body }: ReadOperation, args: Arguments): string | undefined {
  if (!body || args.body === undefined) return undefined
  if (/json/i.test(body.type)) return JSON.stringify(args.body)
  if (/^text\//i.test(body.type)) return textOf(args.body)
  const fields = new URLSearchParams()
  for (const [name, value] of Object.entries(isObject(args.body) ? args.body : {})) {
    for (const each of Array.isArray(value) ? value : [value]) fields.append(name, textOf(each))
  }
  return fields.toString()
}
