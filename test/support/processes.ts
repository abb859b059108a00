/** Looking at processes from outside. */

import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that has ended but was not yet collected by its parent is not alive. */
export function isAlive(pid: number): boolean {
  if (existsSync('/proc/self/stat')) {
    const [state] = statOf(pid)
    return state !== undefined && state !== 'Z'
  }
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The process group that a process belongs to. */
export const groupOf = (pid: number): number => Number(statOf(pid)[2])

/** Resolves with how long it took until the process was gone. */
export async function untilGone(pid: number, withinMs: number): Promise<number> {
  const started = performance.now()
  while (isAlive(pid)) {
    if (performance.now() - started > withinMs) throw new Error(`Process ${pid} is still alive after ${withinMs} ms`)
    await sleep(5)
  }
  return performance.now() - started
}

/** Resolves when a process that got SIGSTOP runs no more. */
export async function untilStopped(pid: number): Promise<void> {
  while (statOf(pid)[0] !== 'T') await sleep(5)
}

/** The fields after the name: state, parent, group, ... */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
