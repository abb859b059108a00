/** The CPU time of a process with all its threads, in microseconds. Linux measures it in nanoseconds. */

import { readdirSync, readFileSync } from 'node:fs'

export function cpuOf(pid) {
  let total = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000
  }
  return total
}

export const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1]
