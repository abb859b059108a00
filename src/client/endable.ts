/** Generators that end when they are told to: an async generator alone finishes a `next()` that waits before it looks at `return()`. */

/**
 * A generator whose `return()` also ends a `next()` that waits.
 * @param run must stop waiting when the signal aborts, and then return
 */
export function endable<T>(run: (end: AbortSignal) => AsyncGenerator<T, undefined>): AsyncGenerator<T, undefined> {
  const over = new AbortController()
  const items = run(over.signal)
  const end = items.return.bind(items)
  const fail = items.throw.bind(items)
  return Object.assign(items, {
    return: () => {
      over.abort()
      return end(undefined)
    },
    throw: (error: unknown) => {
      over.abort()
      return fail(error)
    },
  })
}
