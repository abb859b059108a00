/** Makes tool results complete, and validates them with the output schemas of the tools. */

import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import type { CallToolResult, Tool } from '../protocol/model/tools.ts'
import type { Validate } from '../protocol/schema/compile.ts'
import { findDialect } from '../protocol/schema/dialect.ts'
import { compileForeign } from '../protocol/schema/foreign.ts'
import { describeIssues } from '../protocol/schema/json-schema.ts'

/** A tool result with structured content of type `T`. The content is validated with the server's schema, not with `T`. */
export type ToolResult<T = unknown> = CallToolResult & { structuredContent?: T }

/** The output schemas of one server's tools. Each is compiled for its first result. */
export class OutputSchemas {
  readonly #onWarning: (message: string) => void
  #schemas = new Map<string, Promise<Validate | undefined>>()
  #tools = new Map<string, Tool>()
  #isComplete = false

  constructor(onWarning: (message: string) => void) {
    this.#onWarning = onWarning
  }

  get isComplete(): boolean {
    return this.#isComplete
  }

  /** @param isComplete whether these are the last tools of the list */
  learn(tools: readonly Tool[], isComplete: boolean): void {
    for (const tool of tools) {
      if (this.#tools.get(tool.name) === tool) continue
      this.#tools.set(tool.name, tool)
      this.#schemas.delete(tool.name)
    }
    this.#isComplete ||= isComplete
  }

  forget(): void {
    this.#schemas.clear()
    this.#tools.clear()
    this.#isComplete = false
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  knows(name: string): boolean {
    return this.#isComplete || this.#tools.has(name)
  }

  /** Describes what is wrong with a result; undefined when it is valid. Throws ERR_SCHEMA when the schema is refused. */
  async check(name: string, result: Params): Promise<string | undefined> {
    const schema = this.#tools.get(name)?.outputSchema
    if (schema === undefined || result.isError === true) return undefined
    if (result.structuredContent === undefined) return 'it has no structured content, though the tool declares an output schema'
    let validate = this.#schemas.get(name)
    if (!validate) {
      validate = this.#compile(name, schema)
      validate.catch(() => {})
      this.#schemas.set(name, validate)
    }
    const checked = (await validate)?.(result.structuredContent)
    return !checked || checked.ok ? undefined : describeIssues(checked.issues)
  }

  /** Results of tools whose schema has an unknown dialect are not checked. */
  async #compile(name: string, schema: NonNullable<Tool['outputSchema']>): Promise<Validate | undefined> {
    const { $schema } = schema as { $schema?: unknown }
    if (findDialect($schema)) return compileForeign(schema)
    this.#onWarning(
      `The results of tool ${JSON.stringify(name)} are not checked: the dialect ${JSON.stringify($schema)} of its output schema is not supported`,
    )
    return undefined
  }
}

export const badResult = (name: string, fault: string): McpError =>
  new McpError('ERR_ANSWER_INVALID', `The result of tool ${JSON.stringify(name)} does not match its output schema: ${fault}`)

/** Whether the answer to a call is a task, which the server created or the params asked for. */
export const isTask = (answer: Params, params: Params): boolean =>
  answer.resultType === 'task' || (params.task !== undefined && isObject(answer.task))

/** Old servers, and servers with structured content only, omit `content`. */
export function withContent(name: string, result: Params): Params {
  if (Array.isArray(result.content)) return result
  if (result.content === undefined || result.content === null) return { ...result, content: [] }
  throw new McpError(
    'ERR_ANSWER_INVALID',
    `The content of the result of tool ${JSON.stringify(name)} is a ${typeof result.content}, not a list`,
  )
}
