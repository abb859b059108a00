/** Which tool arguments are mirrored in HTTP headers, learned from the definitions of one server's tools. */

import { asText } from '../base/as-text.ts'
import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { type MirroredParam, mirroredIn, type ParamHeaders, paramHeaders } from '../protocol/model/param-headers.ts'
import type { Tool } from '../protocol/model/tools.ts'

export class MirroredParams {
  readonly #tools = new Map<string, ParamHeaders>()
  #isComplete = false

  /** Learns a tool. Returns the reason if the tool cannot be used. */
  learn(tool: Tool): string | undefined {
    const headers = paramHeaders(tool.inputSchema)
    this.#tools.set(tool.name, headers)
    return headers.fault === undefined ? undefined : `Tool ${JSON.stringify(tool.name)} is ignored: ${headers.fault}`
  }

  /** Call when all tools have been learned. */
  complete(): void {
    this.#isComplete = true
  }

  forget(): void {
    this.#tools.clear()
    this.#isComplete = false
  }

  knows(name: unknown): boolean {
    return this.#isComplete || this.#tools.has(asText(name))
  }

  /** Throws when the tool's annotations or these arguments are invalid. */
  of({ name, arguments: args }: Params): MirroredParam[] {
    const known = this.#tools.get(asText(name))
    if (known === undefined) return []
    if (known.fault !== undefined) throw new McpError('ERR_UNSUPPORTED', `Tool ${JSON.stringify(name)} cannot be called: ${known.fault}`)
    if (known.headers.length === 0) return NONE
    return mirroredIn(known.headers, args)
  }
}

const NONE: MirroredParam[] = []
