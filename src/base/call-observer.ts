/** Calls a callback that only observes, such as a logger. If it fails, no request fails and the process does not end. */

/** @param onFault gets what the callback threw, or rejected with. Default: the first fault of the process is reported */
export function callObserver(observer: () => unknown, onFault: (fault: unknown) => void = reportFirst): void {
  try {
    const said = observer() as Partial<PromiseLike<unknown>> | undefined | null
    // Not every promise is an instance of our Promise.
    if (said?.then) Promise.resolve(said).catch(onFault)
  } catch (fault) {
    onFault(fault)
  }
}

/**
 * Calls all listeners, also if one of them fails.
 *
 * @param what the listeners are for, for the report
 */
export function callListeners<Listener>(listeners: Iterable<Listener>, call: (listener: Listener) => unknown, what: string): void {
  for (const listener of listeners) {
    callObserver(
      () => call(listener),
      (fault) => console.error(`portico: a listener for ${what} failed:`, fault),
    )
  }
}

let isReported = false

/** A logger that fails may do so for every request. */
function reportFirst(fault: unknown): void {
  if (isReported) return
  isReported = true
  console.error('portico: a callback that observes failed. Later failures of this kind are not reported:', fault)
}
