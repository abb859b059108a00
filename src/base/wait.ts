/** Waiting for a promise, with a way to stop waiting. The work behind the promise is not stopped. */

import type { Deadline, Deadlines } from './deadlines.ts'
import { onAbort } from './on-abort.ts'

/** Settles like `promise`, or rejects with the reason of `signal` if that aborts first. */
export async function orAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let unwatch = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    unwatch = onAbort(signal, () => reject(signal.reason))
  })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    unwatch()
  }
}

/** Settles like `promise`, or resolves with `late` if the time is over first. */
export async function within<T, R>(ms: number, promise: PromiseLike<T> | T, late: R): Promise<T | R> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<R>((resolve) => {
    timer = setTimeout(resolve, ms, late)
  })
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

export interface TimeLimit {
  deadlines: Deadlines
  ms: number
  /** While this returns true, the time starts again, for example while a person logs in. */
  isHeld?(): boolean
}

/** Settles like `promise`, or like `onTimeout` if the time is over first. */
export async function orTimeout<T, R>(promise: PromiseLike<T>, { deadlines, ms, isHeld }: TimeLimit, onTimeout: () => R): Promise<T | R> {
  let deadline: Deadline | undefined
  const timeout = new Promise<R>((resolve, reject) => {
    const start = (): void => {
      deadline = deadlines.set(ms, () => {
        if (isHeld?.()) return start()
        try {
          resolve(onTimeout())
        } catch (error) {
          reject(error)
        }
      })
    }
    start()
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    if (deadline) deadlines.clear(deadline)
  }
}
