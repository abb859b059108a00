/** Explains calls in the form of other libraries to people whose editor does not. */

import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'

const SCHEMA = '{ description, input: z.object({ ... }) }'
const CALLS = {
  tool: `server.tool(name, ${SCHEMA}, handler)`,
  resource: 'server.resource(uri, { name }, handler)',
  prompt: `server.prompt(name, ${SCHEMA}, handler)`,
}

const METHODS: Readonly<Record<string, string>> = {
  registerTool: CALLS.tool,
  addTool: CALLS.tool,
  registerResource: CALLS.resource,
  addResource: CALLS.resource,
  registerPrompt: CALLS.prompt,
  addPrompt: CALLS.prompt,
  setRequestHandler: `${CALLS.tool}, server.resource or server.prompt`,
  connect: 'serveStdio(server) of portico/stdio, or listen(server) of portico/http',
}

/** Refuses arguments that would be taken for something else: descriptions and schemas in place of a definition. */
export function checkCall(kind: keyof typeof CALLS, given: readonly unknown[]): void {
  const [, definition] = given
  const shape = isObject(definition) ? Object.keys(definition).find((name) => isShapeField(name, definition[name])) : undefined
  if (given.length < 4 && isObject(definition) && shape === undefined) return
  const came =
    shape === undefined ? `server.${kind}(${given.map(kindOf).join(', ')})` : `a schema in the definition, as ${JSON.stringify(shape)}`
  throw foreign(CALLS[kind], came)
}

/** Adds the methods of other libraries, which only say what to call instead. */
export function explainMethods(server: object): void {
  for (const [name, call] of Object.entries(METHODS)) {
    const value = (): never => {
      throw foreign(call, `server.${name}()`)
    }
    // Not enumerable: a server that is printed or spread does not have them.
    Object.defineProperty(server, name, { value })
  }
}

const foreign = (expected: string, came: string): McpError =>
  new McpError('ERR_DEFINITION', `Expected ${expected}, got ${came}. "portico migrate" changes the code of other libraries`)

/** Raw shapes have schemas under the names of the arguments. A misspelled `inputSchema` is not one. */
const isShapeField = (name: string, value: unknown): boolean =>
  isObject(value) && '~standard' in value && !/^(?:input|output|\w*Schema)$/.test(name)

const kindOf = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : typeof value)
