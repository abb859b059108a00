/** Decides which input answers a question: one key at a time, after a moment without other input. */

/** Keys count after so many milliseconds without other input, so that text typed or pasted for something else answers nothing. */
export const QUIET_MS = 500

/** A key answers when nothing follows it for so many milliseconds. Typed text has shorter gaps. */
export const HOLD_MS = 150

/** A key that answers. `enter` takes the default, `cancel` is Esc, Ctrl-C or Ctrl-D. */
export type Pressed<Key extends string> = Key | 'enter' | 'cancel'

const ENTER: ReadonlySet<string> = new Set(['\r', '\n'])
const CANCEL: ReadonlySet<string> = new Set(['\u001b', '\u0004'])
/** Ctrl-C. It approves nothing, so it always counts. */
export const INTERRUPT = '\u0003'

export class KeyFilter<Key extends string> {
  readonly #keys: ReadonlySet<string>
  #quietSince: number

  /** @param drawnAt when the question was complete on the screen */
  constructor(keys: Iterable<Key>, drawnAt: number) {
    this.#keys = new Set(keys)
    this.#quietSince = drawnAt
  }

  /** Input that answers nothing, for example because it was typed before the question was drawn. */
  drop(at: number): void {
    this.#quietSince = at
  }

  /**
   * The key in one read from the terminal. Undefined: it is dropped. Input that is dropped starts a new moment of waiting, so that
   * neither the middle of a sentence nor a key that is held down answers.
   */
  take(input: string, at: number): Pressed<Key> | undefined {
    if (input === INTERRUPT) return 'cancel'
    const isEarly = at - this.#quietSince < QUIET_MS
    this.#quietSince = at
    if (isEarly) return undefined
    if (ENTER.has(input)) return 'enter'
    if (CANCEL.has(input)) return 'cancel'
    const key = input.toLowerCase()
    return this.#keys.has(key) ? (key as Key) : undefined
  }
}
