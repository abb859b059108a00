/** Calls a callback that only observes, such as a logger. If it fails, no request fails and the process does not end. */

import { reportError } from './report-error.ts'

/** What has failed and was reported. A logger that fails can fail at every request. */
const reported = new Set<string>()

/**
 * The first failure of each callback in this process is reported.
 *
 * @param name of the callback, for the report, such as `onRequest`
 */
export function callObserver(name: string, observer: () => unknown): void {
  callSafely(observer, (fault) => reportFirst(`the callback ${name}`, fault))
}

/**
 * Reports the first failure in this process.
 *
 * @param what has failed, for the report
 */
export function reportFirst(what: string, fault: unknown): void {
  if (reported.has(what)) return
  reported.add(what)
  reportError(`portico: ${what} failed. Its later failures are not reported:`, fault)
}

/** @param onFault gets what the callback threw, or rejected with */
export function callSafely(observer: () => unknown, onFault: (fault: unknown) => void): void {
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
    callSafely(
      () => call(listener),
      (fault) => reportError(`portico: a listener for ${what} failed:`, fault),
    )
  }
}
