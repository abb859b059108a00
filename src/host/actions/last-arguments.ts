/** The arguments that a person agreed to last, so that a question can show the differences. */

type Arguments = Readonly<Record<string, unknown>>

export interface AgreedCall {
  args: Arguments
  /** The person wrote the arguments, not a model. */
  isOwn: boolean
}

/** Enough for the tools that a person uses. The oldest entry is dropped. */
const MAX_CALLS = 500

export class LastArguments {
  readonly #calls = new Map<string, AgreedCall>()

  of(server: string, tool: string): AgreedCall | undefined {
    return this.#calls.get(keyOf(server, tool))
  }

  remember(server: string, tool: string, call: AgreedCall): void {
    const key = keyOf(server, tool)
    this.#calls.delete(key)
    this.#calls.set(key, call)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest)
  }
}

const keyOf = (server: string, tool: string): string => JSON.stringify([server, tool])
