/** What a client has learned about the tools of its server: which arguments go into headers, and how to check results. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import type { Tool } from '../protocol/model/tools.ts'
import type { MirroredParams } from './mirrored-params.ts'
import type { CallOptions } from './options.ts'
import { badResult, OutputSchemas } from './tool-results.ts'

export interface ToolSource {
  /** Lists all tools. Their definitions come back through `learn`. */
  list(): Promise<unknown>
  call(params: Params, options: CallOptions): Promise<Params>
  /** The code of the error for headers that do not match the message. */
  mismatchCode(): number | undefined
  /** The cached list is outdated. */
  dropList(): void
  /** The tools changed without a notice. Must call `forget`. */
  onChanged(): void
  onWarning(message: string): void
}

export class KnownTools {
  readonly #source: ToolSource
  readonly #outputs: OutputSchemas
  /** Undefined on transports without headers. */
  readonly #mirrored: MirroredParams | undefined
  #learning: Promise<void> | undefined

  constructor(source: ToolSource, mirrored: MirroredParams | undefined) {
    this.#source = source
    this.#mirrored = mirrored
    this.#outputs = new OutputSchemas(source.onWarning)
  }

  /** Learns the tools of one page. Returns those that can be used. */
  learn(listed: readonly Tool[], isLast: boolean): Tool[] {
    const tools = listed.filter((tool) => this.#isUsable(tool))
    this.#outputs.learn(tools, isLast)
    if (isLast) this.#mirrored?.complete()
    return tools
  }

  forget(): void {
    this.#outputs.forget()
    this.#mirrored?.forget()
  }

  /** What the definition of a tool says about tasks. Lists the tools if it is not known. */
  async taskSupport(name: string): Promise<unknown> {
    if (!this.#outputs.knows(name)) await this.#learnAll()
    return this.#outputs.tool(name)?.execution?.taskSupport
  }

  /** Whether to check a result. One without structured content is wrong only if the tool declares an output schema. */
  mustCheck(name: string, result: Params): boolean {
    return result.structuredContent !== undefined || this.#outputs.knows(name)
  }

  /** @throws McpError ERR_ANSWER_INVALID when the result does not match the output schema */
  async check(name: string, result: Params): Promise<void> {
    if (!this.#outputs.knows(name)) await this.#source.list()
    const fault = await this.#outputs.check(name, result)
    if (fault === undefined) return
    // The tool may have changed since it was listed, so list it again before reporting an error.
    this.#source.onChanged()
    await this.#source.list()
    const stillWrong = await this.#outputs.check(name, result)
    if (stillWrong !== undefined) throw badResult(name, stillWrong)
  }

  /** The tool's definition says which arguments are mirrored in headers, so it must be known before the call. It may be outdated. */
  async callMirrored(mirrored: MirroredParams, params: Params, options: CallOptions): Promise<Params> {
    if (!mirrored.knows(params.name)) await this.#learnAll()
    try {
      return await this.#source.call(params, options)
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== this.#source.mismatchCode()) throw error
      const before = JSON.stringify(mirrored.of(params))
      this.#source.dropList()
      await this.#learnAll()
      // Older revisions do not reserve the code. If the headers would be the same, the call is not repeated.
      if (JSON.stringify(mirrored.of(params)) === before) throw error
      return this.#source.call(params, options)
    }
  }

  /** Lists all tools, once for all waiting calls. If listing fails, the calls are made anyway. */
  #learnAll(): Promise<void> {
    this.#learning ??= this.#source
      .list()
      .then(
        () => {},
        (error: unknown) => this.#source.onWarning(`The tools could not be listed: ${asText(error)}`),
      )
      .finally(() => {
        this.#learning = undefined
      })
    return this.#learning
  }

  #isUsable(tool: Tool): boolean {
    if (typeof tool.name !== 'string' || !isObject(tool.inputSchema)) {
      this.#source.onWarning(`A tool without a name or an input schema is left out: ${JSON.stringify(tool).slice(0, 200)}`)
      return false
    }
    const fault = this.#mirrored?.learn(tool)
    if (fault !== undefined) this.#source.onWarning(fault)
    return fault === undefined
  }
}
