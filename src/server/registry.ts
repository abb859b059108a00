/** The tools, resources or prompts of a server, in order of definition. Each can be disabled. */

import { McpError } from '../protocol/errors.ts'

/**
 * Changes a tool, resource or prompt after its definition. Clients are notified of every change.
 *
 * @example
 * const admin = server.tool('admin', {}, () => 'done')
 * admin.disable()
 */
export interface Handle<Definition, Handler> {
  readonly name: string
  readonly isEnabled: boolean
  /** Lists it again. */
  enable(): void
  /** Removes it from lists and refuses its use, until `enable`. */
  disable(): void
  /** Replaces parts of the definition, and the handler if given. */
  update(changes: Partial<Definition>, handler?: Handler): void
  /** Removes it permanently. */
  remove(): void
}

export class Registry<Entry> {
  readonly #kind: string
  readonly #onChange: () => void
  // A Map, not an object: peers choose the names that are looked up, such as "constructor".
  readonly #entries = new Map<string, { entry: Entry; isEnabled: boolean }>()
  #enabled: Entry[] | undefined
  #wasUsed = false

  constructor(kind: string, onChange: () => void) {
    this.#kind = kind
    this.#onChange = onChange
  }

  /** Whether there ever was an entry. The declared capability stays even if all entries are removed. */
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
    if (this.#entries.has(name)) throw new McpError('ERR_DEFINITION', `The ${this.#kind} ${JSON.stringify(name)} is already defined`)
    if (typeof handler !== 'function')
      throw new McpError('ERR_DEFINITION', `The ${this.#kind} ${JSON.stringify(name)} needs a function that handles its requests`)
    let current: { definition: Definition; handler: Handler } = { definition, handler }
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
