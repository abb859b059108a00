/** What a person agreed to the last time, so that they can be shown what is different now. */

type Arguments = Readonly<Record<string, unknown>>

const MAX_REMEMBERED = 500

export class LastArguments {
  readonly #calls = new Map<string, Arguments>()

  of(server: string, tool: string): Arguments | undefined {
    return this.#calls.get(keyOf(server, tool))
  }

  remember(server: string, tool: string, args: Arguments): void {
    const key = keyOf(server, tool)
    this.#calls.delete(key)
    this.#calls.set(key, args)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_REMEMBERED && oldest !== undefined) this.#calls.delete(oldest)
  }
}

const keyOf = (server: string, tool: string): string => JSON.stringify([server, tool])
