/** The arguments that a person agreed to last, so that a question can show the differences. */

import { BoundedMap } from '../../base/bounded-map.ts'

type Arguments = Readonly<Record<string, unknown>>

export interface AgreedCall {
  args: Arguments
  /** The person wrote the arguments, not a model. */
  isOwn: boolean
}

/** Enough for the tools that a person uses. The oldest entry is dropped. */
const MAX_CALLS = 500

export class LastArguments {
  readonly #calls = new BoundedMap<string, AgreedCall>(MAX_CALLS)

  of(server: string, tool: string): AgreedCall | undefined {
    return this.#calls.get(keyOf(server, tool))
  }

  remember(server: string, tool: string, call: AgreedCall): void {
    this.#calls.set(keyOf(server, tool), call)
  }
}

const keyOf = (server: string, tool: string): string => JSON.stringify([server, tool])
