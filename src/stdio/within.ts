/** Resolves when `promise` settles, or after `ms`. Clears the timer, which would keep the process alive. */
export const within = (ms: number, promise: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(done, ms)
    promise.then(done, done)
  })
