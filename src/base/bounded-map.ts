/** A map with a maximum size. */

/**
 * When the map is full, a new key replaces the oldest one. Setting a key again makes it the newest; reading it does not.
 *
 * @param onDrop called with each entry that is removed to make room
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number
  readonly #onDrop: ((key: Key, value: Value) => void) | undefined

  constructor(max: number, onDrop?: (key: Key, value: Value) => void) {
    super()
    this.#max = max
    this.#onDrop = onDrop
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    while (this.size >= this.#max) {
      const oldest = this.entries().next()
      if (oldest.done) break
      this.delete(oldest.value[0])
      this.#onDrop?.(...oldest.value)
    }
    return super.set(key, value)
  }
}
