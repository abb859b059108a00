/** Reads one key from the terminal, without Enter. */

import type { Io } from '../io.ts'
import { HOLD_MS, INTERRUPT, KeyFilter, type Pressed, QUIET_MS } from './key-filter.ts'
import { rawInput } from './raw-input.ts'

export interface ReadKeyOptions {
  signal: AbortSignal
  /** Draws the choices. By then the terminal no longer shows what is typed. */
  draw(): void
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?(): number
}

/** @throws Cancelled for Esc, Ctrl-C, Ctrl-D, a closed input and an aborted signal */
export function readKey<Key extends string>(
  { stdin }: Pick<Io, 'stdin'>,
  keys: Iterable<Key>,
  { signal, draw, now = () => performance.now() }: ReadKeyOptions,
): Promise<Exclude<Pressed<Key>, 'cancel'>> {
  stdin.setRawMode?.(true)
  draw()
  const filter = new KeyFilter(keys, now())
  // Input typed before the question was visible is not an answer.
  while (stdin.read() !== null);
  return new Promise((resolve, reject) => {
    // A busy process reads input long after it was typed. What is there when the first moment ends was typed before that, so the
    // pending input is read, and dropped, before keys count.
    let isOpen = false
    const opening = setTimeout(() => setImmediate(() => (isOpen = true)), QUIET_MS)
    // A key answers only if nothing follows it: the first letter of typed text is no answer.
    let held: { key: Pressed<Key> } | undefined
    let holding: NodeJS.Timeout | undefined
    const onStop = (): void => {
      clearTimeout(opening)
      clearTimeout(holding)
      held = undefined
    }
    const onData = (input: string): void => {
      if (!isOpen && input !== INTERRUPT) return filter.drop(now())
      if (held && input !== INTERRUPT) {
        clearTimeout(holding)
        held = undefined
        return filter.drop(now())
      }
      const pressed = filter.take(input, now())
      if (pressed === undefined) return
      if (pressed === 'cancel') return raw.cancel()
      if (pressed === 'enter') return answer(pressed)
      const own = { key: pressed }
      held = own
      // Pending input is read before the key counts, as above.
      holding = setTimeout(() => setImmediate(() => held === own && answer(pressed)), HOLD_MS)
    }
    const answer = (pressed: Pressed<Key>): void => {
      raw.stop()
      resolve(pressed as Exclude<Pressed<Key>, 'cancel'>)
    }
    const raw = rawInput({ stdin }, signal, { onData, onStop, onCancel: reject })
    raw.start()
  })
}
