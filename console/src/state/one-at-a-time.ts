/** Runs a task again and again without overlap: calls during a run cause one more run together. */

export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const run = (): Promise<void> => {
    next = undefined
    running = task().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (!running) return run()
    next ??= running.then(run, run)
    return next
  }
}
