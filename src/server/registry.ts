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

/** What was defined, as another server that mounts this one sees it. */
export interface Defined<Definition = unknown, Handler = unknown> {
  readonly name: string
  readonly definition: Definition
  readonly handler: Handler
}

/** Makes a copy of a definition in another server, and returns its handle; undefined if it leaves the definition out. */
export type Follower<Entry = unknown> = (defined: Defined, entry: Entry) => Handle<unknown, unknown> | undefined

interface Slot<Entry> {
  entry: Entry
  isEnabled: boolean
  current: Defined
  /** The copies in servers that mount this one. */
  readonly copies: { follower: Follower<Entry>; handle: Handle<unknown, unknown> | undefined }[]
}

export class Registry<Entry> {
  readonly #kind: string
  readonly #onChange: () => void
  // A Map, not an object: peers choose the names that are looked up, such as "constructor".
  readonly #entries = new Map<string, Slot<Entry>>()
  readonly #followers: Follower<Entry>[] = []
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
    const slot: Slot<Entry> = { entry: make(definition, handler), isEnabled: true, current: { name, definition, handler }, copies: [] }
    const isThere = (): boolean => this.#entries.get(name) === slot
    const change = (): void => {
      this.#enabled = undefined
      this.#onChange()
    }
    const setEnabled = (isEnabled: boolean): void => {
      if (!isThere() || slot.isEnabled === isEnabled) return
      slot.isEnabled = isEnabled
      change()
      for (const { handle } of slot.copies) isEnabled ? handle?.enable() : handle?.disable()
    }
    this.#entries.set(name, slot)
    this.#wasUsed = true
    change()
    const remove = (): void => {
      if (!isThere()) return
      this.#entries.delete(name)
      change()
      for (const { handle } of slot.copies) handle?.remove()
    }
    try {
      for (const follower of this.#followers) slot.copies.push({ follower, handle: follower(slot.current, slot.entry) })
    } catch (error) {
      // Another server that mounts this one has the name already.
      remove()
      throw error
    }
    return {
      name,
      get isEnabled() {
        return isThere() && slot.isEnabled
      },
      enable: () => setEnabled(true),
      disable: () => setEnabled(false),
      update: (changes, newHandler) => {
        if (!isThere()) throw new McpError('ERR_DEFINITION', `The ${this.#kind} ${JSON.stringify(name)} was removed`)
        const { current } = slot
        const next = {
          definition: { ...(current.definition as Definition), ...changes },
          handler: newHandler ?? (current.handler as Handler),
        }
        slot.entry = make(next.definition, next.handler)
        slot.current = { name, ...next }
        change()
        for (const copy of slot.copies) renew(copy, slot)
      },
      remove,
    }
  }

  isDefined(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Calls the follower with everything that is or will be defined, and passes later changes on to the handles that it returns. */
  follow(follower: Follower<Entry>): void {
    for (const slot of this.#entries.values()) {
      const copy = { follower, handle: undefined }
      renew(copy, slot)
      slot.copies.push(copy)
    }
    this.#followers.push(follower)
  }
}

/** Defines a copy anew, because a change can give it another name. */
function renew<Entry>(copy: Slot<Entry>['copies'][number], { current, entry, isEnabled }: Slot<Entry>): void {
  copy.handle?.remove()
  copy.handle = copy.follower(current, entry)
  if (!isEnabled) copy.handle?.disable()
}
