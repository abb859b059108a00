/** Polls until a condition holds. It may depend on other processes. */

import { setTimeout as sleep } from 'node:timers/promises'

export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 12_000): Promise<void> {
  const started = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - started > withinMs) throw new Error(`Not true after ${withinMs} ms: ${isTrue}`)
    await sleep(10)
  }
}
