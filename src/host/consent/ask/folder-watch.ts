/** Tells when something may have changed in a folder: at once where the system says so, and every now and then in any case. */

import { watch } from 'node:fs'

export function watchFolder(folder: string, pollMs: number, onChange: () => void): () => void {
  const timer = setInterval(onChange, pollMs)
  let stop = (): void => {}
  try {
    const watcher = watch(folder, onChange)
    // Too many are watched, or the folder lies where nothing is told: there is still the timer.
    watcher.on('error', () => watcher.close())
    stop = () => watcher.close()
  } catch {
    // As above.
  }
  return () => {
    clearInterval(timer)
    stop()
  }
}
