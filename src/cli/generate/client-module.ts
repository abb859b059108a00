/** The text of a module with one function for each tool of a server. */

import type { Tool } from '../../client/index.ts'
import { comment, Identifiers, literal, upperFirst } from './escape.ts'
import { typeText } from './type-text.ts'

/** The first line of a module that may be written again. */
export const MADE_BY = '// Made by "portico generate client". Changes are lost when it is made again.'

const MAX_TOOLS = 2000

/** The same tools give the same text, in any order. */
export function clientModule(tools: readonly Tool[]): string {
  const identifiers = new Identifiers()
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)).slice(0, MAX_TOOLS)
  const parts = sorted.map((tool) => toolText(tool, identifiers.add(tool.name)))
  return [MADE_BY, '', "import type { CallOptions, Client, ToolResult } from 'portico'", '', ...parts].join('\n')
}

/** Members that can make a type of anything. */
const COMBINING = ['anyOf', 'oneOf', 'allOf', '$ref', 'const', 'enum']

function toolText({ name, title, description, inputSchema, outputSchema }: Tool, identifier: string): string {
  const [input, output] = [`${upperFirst(identifier)}Input`, `${upperFirst(identifier)}Output`]
  const inputText = typeText(inputSchema)
  const isPlain = inputText !== 'unknown' && inputSchema.type === 'object' && !COMBINING.some((each) => each in inputSchema)
  const isOptional = isPlain && (!Array.isArray(inputSchema.required) || inputSchema.required.length === 0)
  const args = isOptional ? `args: ${input} = {}` : `args: ${input}`
  return [
    `export type ${input} = ${inputText}`,
    `export type ${output} = ${outputSchema === undefined ? 'unknown' : typeText(outputSchema)}`,
    `${comment(description ?? title)}export const ${identifier} = (client: Client, ${args}, options?: CallOptions): Promise<ToolResult<${output}>> =>`,
    `  client.call<${output}>(${literal(name)}, ${isPlain ? 'args' : 'args as never'}, options)`,
    '',
  ].join('\n')
}
