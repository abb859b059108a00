/** Waiting that ends when the signal says so, whatever is waited for. */

import { onAbort } from './on-abort.ts'

/** What the promise gives, or the reason of the signal. Who does not listen to the signal is left behind, not waited for. */
export async function unlessAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let unwatch = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    unwatch = onAbort(signal, () => reject(signal.reason))
  })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    unwatch()
  }
}
