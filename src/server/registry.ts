/** The tools, resources or prompts of a server, in the order they were registered, each on or off. */

import { McpError } from '../protocol/errors.ts'

/** What registering returns: the way to change the entry later. Every change is announced to clients. */
export interface Handle<Definition, Handler> {
  readonly name: string
  readonly isEnabled: boolean
  /** Offers it again. */
  enable(): void
  /** Neither lists it nor lets it be used. */
  disable(): void
  /** Replaces parts of its definition, and its handler if one is given. */
  update(changes: Partial<Definition>, handler?: Handler): void
  remove(): void
}

export class Registry<Entry> {
  readonly #kind: string
  readonly #onChange: () => void
  // A Map, not an object: names come from peers, and "constructor" is one of them.
  readonly #entries = new Map<string, { entry: Entry; isEnabled: boolean }>()
  #enabled: Entry[] | undefined
  #wasUsed = false

  constructor(kind: string, onChange: () => void) {
    this.#kind = kind
    this.#onChange = onChange
  }

  /** Whether there was ever an entry. What was declared for it then stays true when the last one goes. */
  get wasUsed(): boolean {
    return this.#wasUsed
  }

  get(name: string): Entry | undefined {
    const slot = this.#entries.get(name)
    return slot?.isEnabled ? slot.entry : undefined
  }

  enabled(): readonly Entry[] {
    this.#enabled ??= [...this.#entries.values()].filter(({ isEnabled }) => isEnabled).map(({ entry }) => entry)
    return this.#enabled
  }

  add<Definition, Handler>(
    name: string,
    definition: Definition,
    handler: Handler,
    make: (definition: Definition, handler: Handler) => Entry,
  ): Handle<Definition, Handler> {
    if (this.#entries.has(name)) throw new McpError('ERR_DEFINITION', `There is a ${this.#kind} ${JSON.stringify(name)} already`)
    let current = { definition, handler }
    const slot = { entry: make(definition, handler), isEnabled: true }
    const isThere = (): boolean => this.#entries.get(name) === slot
    const change = (): void => {
      this.#enabled = undefined
      this.#onChange()
    }
    const setEnabled = (isEnabled: boolean): void => {
      if (!isThere() || slot.isEnabled === isEnabled) return
      slot.isEnabled = isEnabled
      change()
    }
    this.#entries.set(name, slot)
    this.#wasUsed = true
    change()
    return {
      name,
      get isEnabled() {
        return isThere() && slot.isEnabled
      },
      enable: () => setEnabled(true),
      disable: () => setEnabled(false),
      update: (changes, newHandler) => {
        if (!isThere()) throw new McpError('ERR_DEFINITION', `The ${this.#kind} ${JSON.stringify(name)} was removed`)
        const next = { definition: { ...current.definition, ...changes }, handler: newHandler ?? current.handler }
        slot.entry = make(next.definition, next.handler)
        current = next
        change()
      },
      remove: () => {
        if (!isThere()) return
        this.#entries.delete(name)
        change()
      },
    }
  }
}
