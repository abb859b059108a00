/** Tells an Enter that the person pressed from one that came with pasted or fast input. */

import type { Io } from '../io.ts'
import { HOLD_MS } from './key-filter.ts'

const ENTER: ReadonlySet<string> = new Set(['\r', '\n'])

/** Runs a prompt that Enter ends. `isOwnEnter`: the last input was Enter alone, a moment after any other input. */
export async function watchEnter<Value>(
  { stdin }: Pick<Io, 'stdin'>,
  prompt: () => Promise<Value>,
): Promise<{ value: Value; isOwnEnter: boolean }> {
  let isOwnEnter = false
  let last = performance.now()
  const onData = (data: Buffer | string): void => {
    const at = performance.now()
    isOwnEnter = ENTER.has(data.toString()) && at - last >= HOLD_MS
    last = at
  }
  const ended = prompt()
  // After the prompt has begun to read, so that no input is lost to it.
  stdin.on('data', onData)
  try {
    const value = await ended
    return { value, isOwnEnter }
  } finally {
    stdin.off('data', onData)
  }
}
