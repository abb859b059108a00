/** The tools of one server as a transport with headers must know them: which arguments travel beside the message. */

import type { Params } from '../jsonrpc/message.ts'
import { McpError } from '../protocol/errors.ts'
import { type MirroredParam, mirroredIn, type ParamHeader, type ParamHeaders, paramHeaders, valueAt } from '../protocol/param-headers.ts'
import type { Tool } from '../protocol/tools.ts'

export class MirroredParams {
  readonly #tools = new Map<string, ParamHeaders>()
  #isComplete = false

  /** Takes note of a tool; says why it cannot be used, if it cannot. */
  learn(tool: Tool): string | undefined {
    const headers = paramHeaders(tool.inputSchema)
    this.#tools.set(tool.name, headers)
    return headers.fault === undefined ? undefined : `Tool ${JSON.stringify(tool.name)} is left out: ${headers.fault}`
  }

  /** All tools there are have been learned. */
  complete(): void {
    this.#isComplete = true
  }

  forget(): void {
    this.#tools.clear()
    this.#isComplete = false
  }

  knows(name: unknown): boolean {
    return this.#isComplete || this.#tools.has(String(name))
  }

  /** Throws when the tool may not be called for what its definition says, or not with these arguments. */
  of({ name, arguments: args }: Params): MirroredParam[] {
    const known = this.#tools.get(String(name))
    if (known === undefined) return []
    if (known.fault !== undefined) throw new McpError('ERR_UNSUPPORTED', `Tool ${JSON.stringify(name)} cannot be called: ${known.fault}`)
    if (known.headers.length === 0) return NONE
    for (const header of known.headers) checkInteger(String(name), header, args)
    return mirroredIn(known.headers, args)
  }
}

/** A proxy and the server must read the same number. Beyond these bounds, and with a fraction, they need not. */
function checkInteger(tool: string, { path, type }: ParamHeader, args: unknown): void {
  if (type !== 'integer') return
  const value = valueAt(args, path)
  if (value === undefined || value === null || Number.isSafeInteger(value)) return
  const came = typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
  const expected = `an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`
  throw new McpError(
    'ERR_INVALID_PARAMS',
    `Tool ${JSON.stringify(tool)} cannot be called: the argument ${JSON.stringify(path.join('.'))} travels in a header and must be ${expected}, not ${came}`,
  )
}

const NONE: MirroredParam[] = []
