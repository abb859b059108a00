/** Runs a call and yields its progress, then its value. */

import type { Progress } from '../../protocol/model/progress.ts'

export type Step<T> = { kind: 'progress'; progress: Progress } | { kind: 'value'; value: T }

/** A slow reader gets only the latest progress, so that a server cannot pile it up. */
export async function* withProgress<T>(run: (onProgress: (progress: Progress) => void) => Promise<T>): AsyncGenerator<Step<T>, void> {
  let latest: Progress | undefined
  let wake = (): void => {}
  const call = run((progress) => {
    latest = progress
    wake()
  })
  let isDone = false
  const end = (): void => {
    isDone = true
    wake()
  }
  call.then(end, end)
  for (;;) {
    if (latest !== undefined) {
      const progress = latest
      latest = undefined
      yield { kind: 'progress', progress }
    } else if (isDone) {
      yield { kind: 'value', value: await call }
      return
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}
