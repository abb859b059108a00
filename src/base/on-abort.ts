/**
 * One listener per signal, for any number of callbacks. An agent may pass one signal to hundreds of calls, and Node
 * warns about a leak at more than ten listeners.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `run` when `signal` aborts, or immediately if it has aborted. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) {
    run()
    return () => {}
  }
  const all = waiting.get(signal) ?? listen(signal)
  const own = (): void => run()
  all.add(own)
  return () => void all.delete(own)
}

function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>()
  waiting.set(signal, all)
  const runAll = (): void => {
    for (const run of all) run()
  }
  signal.addEventListener('abort', runAll, { once: true })
  return all
}
