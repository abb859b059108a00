/** Notices changes of a value that other processes have, and that must be asked for. */

/** How often to look. */
const LOOK_MS = 250

/**
 * Calls `listener` when `read` resolves with another value than before. A look that fails is repeated by the next one. Returns a function
 * that stops it.
 */
export function watchValue(read: () => Promise<unknown>, listener: () => void): () => void {
  let last: { value: unknown } | undefined
  let isLooking = false
  let isStopped = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      const value = await read()
      const isChanged = last !== undefined && last.value !== value
      last = { value }
      if (isChanged && !isStopped) listener()
    } finally {
      isLooking = false
    }
  }
  const lookOrWait = (): void => void look().catch(() => {})
  const timer = setInterval(lookOrWait, LOOK_MS).unref()
  lookOrWait()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
