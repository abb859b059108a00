/** Waits until the person types nothing for a moment, so that text typed for something else does not land in a field. */

import type { Io } from '../io.ts'
import { INTERRUPT, QUIET_MS } from './key-filter.ts'
import { rawInput } from './raw-input.ts'

/** Drops what is typed meanwhile. @throws Cancelled for Ctrl-C, a closed input and an aborted signal */
export function untilQuiet({ stdin }: Pick<Io, 'stdin'>, signal: AbortSignal): Promise<void> {
  stdin.setRawMode?.(true)
  while (stdin.read() !== null);
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout
    const onQuiet = (): void => {
      input.stop()
      resolve()
    }
    const wait = (): void => {
      clearTimeout(timer)
      // A busy process reads input long after it was typed: what is there when the moment ends is read, and starts a new moment.
      timer = setTimeout(() => setImmediate(() => (timer = setTimeout(onQuiet, 0))), QUIET_MS)
    }
    const input = rawInput({ stdin }, signal, {
      onData: (keys) => (keys === INTERRUPT ? input.cancel() : wait()),
      onStop: () => clearTimeout(timer),
      onCancel: reject,
    })
    wait()
    input.start()
  })
}
