/** Gives the lease of this process up, and tells those who need it again. */

import type { Replica } from './replica.ts'

const needing = new WeakMap<Replica, Set<() => void>>()

/** Calls `listener` after the replica has left. Returns a function that ends it. */
export function onLeft(replica: Replica, listener: () => void): () => void {
  const listeners = needing.get(replica) ?? new Set()
  needing.set(replica, listeners)
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export async function leaveReplica(replica: Replica): Promise<void> {
  try {
    await replica.leave()
  } finally {
    for (const listener of needing.get(replica) ?? []) listener()
  }
}
