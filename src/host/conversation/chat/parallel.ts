/** So many at a time; the others wait their turn. */

export function atMost(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      // The place is handed on, so that nobody can come in between.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
