/** What a person agreed to the last time, so that they can be shown what is different now. */

type Arguments = Readonly<Record<string, unknown>>

export interface Remembered {
  args: Arguments
  /** The person wrote them, and not a model. */
  isOwn: boolean
}

const MAX_REMEMBERED = 500

export class LastArguments {
  readonly #calls = new Map<string, Remembered>()

  of(server: string, tool: string): Remembered | undefined {
    return this.#calls.get(keyOf(server, tool))
  }

  remember(server: string, tool: string, call: Remembered): void {
    const key = keyOf(server, tool)
    this.#calls.delete(key)
    this.#calls.set(key, call)
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_REMEMBERED && oldest !== undefined) this.#calls.delete(oldest)
  }
}

const keyOf = (server: string, tool: string): string => JSON.stringify([server, tool])
