/**
 * One listener for each signal, however many wait on it: the signal of an agent's run is given to hundreds of calls,
 * and Node takes more than ten listeners for a leak and warns.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Runs `run` when `signal` is aborted, at once when it is already. Call what comes back once it no longer matters. */
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
