/** Explains calls in the form of other libraries to people whose editor does not. */

import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'

const DEFINED = '(name, { description, input: z.object({ ... }) }, handler)'
const CALLS = {
  tool: `server.tool${DEFINED}`,
  resource: 'server.resource(uri, { name }, handler)',
  prompt: `server.prompt${DEFINED}`,
}

const OTHERS: Readonly<Record<string, string>> = {
  setRequestHandler: 'server.tool, server.resource or server.prompt',
  connect: 'serveStdio(server) of portico/stdio, or listen(server) of portico/http',
}

/** The same arguments. Refuses those that would be taken for something else: descriptions and schemas in place of a definition. */
export function checkedCall(kind: keyof typeof CALLS, given: readonly unknown[]): readonly unknown[] {
  const [, definition] = given
  const shape = isObject(definition) && Object.keys(definition).find((name) => isShapeField(name, definition[name]))
  if (given.length < 4 && shape === undefined) return given
  throw foreign(CALLS[kind], shape ? `a schema in the definition, as "${shape}"` : `server.${kind}(${given.map(kindOf).join(', ')})`)
}

/** Adds the methods of other libraries, which only say what to call instead. */
export function explainMethods(server: object): void {
  const add = (name: string, call: string): void => {
    // Not enumerable: a server that is printed or spread does not have them.
    Object.defineProperty(server, name, {
      value: () => {
        throw foreign(call, `server.${name}()`)
      },
    })
  }
  for (const [kind, call] of Object.entries(CALLS))
    for (const verb of ['register', 'add']) add(`${verb}${kind.charAt(0).toUpperCase()}${kind.slice(1)}`, call)
  for (const name in OTHERS) add(name, OTHERS[name] as string)
}

const foreign = (expected: string, came: string): McpError =>
  new McpError('ERR_DEFINITION', `Expected ${expected}, got ${came}. "portico migrate" changes the code of other libraries`)

/** Raw shapes have schemas under the names of the arguments. A misspelled `inputSchema` is not one. */
const isShapeField = (name: string, value: unknown): boolean =>
  isObject(value) && '~standard' in value && !/^(?:in|out)put$|Schema$/.test(name)

const kindOf = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : value === null ? 'null' : typeof value)
