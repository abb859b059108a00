/** Arguments of calls: from an address, as schemas for forms, and in one line. */

import { isObject } from '../../../src/base/json.ts'
import type { Prompt } from '../../../src/client/index.ts'
import type { RecentCall, SavedCall } from '../../../src/console/api.ts'
import { uriTemplate } from '../../../src/protocol/uri-template/index.ts'

export type Arguments = Readonly<Record<string, unknown>>

/** Reads the arguments of an address. A fault says why they cannot be used. */
export function argumentsIn(text: string | undefined): { args?: Arguments; fault?: string } {
  if (text === undefined) return {}
  try {
    const args: unknown = JSON.parse(text)
    return isObject(args) ? { args } : { fault: 'The arguments in the address must be a JSON object.' }
  } catch {
    return { fault: 'The arguments in the address are not JSON.' }
  }
}

/** The form for the arguments of a prompt: texts only. */
export const promptSchema = ({ arguments: args = [] }: Prompt): Record<string, unknown> => ({
  type: 'object',
  properties: Object.fromEntries(args.map(({ name, title, description }) => [name, textSchema(title, description)])),
  required: args.filter(({ required }) => required === true).map(({ name }) => name),
})

const textSchema = (title: string | undefined, description: string | undefined): Record<string, unknown> => ({
  type: 'string',
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
})

export interface Template {
  schema: Record<string, unknown>
  /** Undefined while a variable in the path has no value. */
  expand(values: Arguments): string | undefined
}

/** The form for the variables of a resource template. @throws McpError for a template that is not valid */
export function templateForm(text: string): Template {
  const template = uriTemplate(text)
  const optional = optionalIn(text)
  const required = template.variables.filter((name) => !optional.has(name))
  return {
    schema: { type: 'object', properties: Object.fromEntries(template.variables.map((name) => [name, { type: 'string' }])), required },
    expand: (values) => {
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string' && value !== ''))
      return required.every((name) => given[name] !== undefined) ? template.expand(given as Record<string, string>) : undefined
    },
  }
}

/** Variables of a query or a fragment, as in `{?limit}`, can be left out. */
const optionalIn = (template: string): Set<string> =>
  new Set(
    [...template.matchAll(/\{[?&#;]([^}]*)\}/g)].flatMap(([, names = '']) => names.split(',').map((name) => name.replace(/[:*].*$/, ''))),
  )

/** The texts among the arguments, for completion. */
export const textArguments = (args: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(isObject(args) ? args : {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

const MAX_LINE = 80

/** Arguments in one line: `title: "Milk", tags: ["home"]`. */
export function argumentsLine(args: Arguments | undefined): string {
  const entries = Object.entries(args ?? {})
  if (entries.length === 0) return 'without arguments'
  const line = entries.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} …` : line
}

export interface PastCall {
  key: string
  title: string
  about: string
  args: Arguments
  /** Undefined: it was not saved. */
  saved?: SavedCall
}

const MAX_RECENT = 8

/** Calls of one tool, resource or prompt to use again: saved ones first, then the last different ones. */
export function pastCalls(
  { kind, server, name }: Pick<SavedCall, 'kind' | 'server' | 'name'>,
  saved: readonly SavedCall[],
  recent: readonly RecentCall[],
  ago: (at: number) => string,
): PastCall[] {
  const isMeant = (call: Pick<SavedCall, 'kind' | 'server' | 'name'>): boolean =>
    call.kind === kind && call.server === server && call.name === name
  const lines = new Set<string>()
  const different = recent.filter((call) => {
    if (!isMeant(call) || call.args === undefined) return false
    const line = JSON.stringify(call.args)
    return !lines.has(line) && lines.add(line)
  })
  return [
    ...saved
      .filter(isMeant)
      .map((call) => ({ key: call.id, title: call.title, about: argumentsLine(call.args), args: call.args ?? {}, saved: call })),
    ...different.slice(0, MAX_RECENT).map(({ seq, at, args = {}, by }) => ({
      key: `recent ${seq}`,
      title: argumentsLine(args),
      about: `${ago(at)}, by ${by === 'person' ? 'you' : 'a model'}`,
      args,
    })),
  ]
}
