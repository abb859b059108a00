/** Goes on with a value: at once if it is there, later if it is promised. A promise costs a turn that most calls do not need. */

export function whenReady<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
