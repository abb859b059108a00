/** `checkStore`: the rules that every store of replicas must keep. */

import type { SharedStore } from '../store/shared-store.ts'

/**
 * Checks that a store keeps the rules of `SharedStore`. Rejects with the first rule that it breaks. It waits for leases to end, so open
 * the store with a lease of about a second.
 *
 * @example
 * await checkStore(() => postgresStore('postgres://127.0.0.1/test', { leaseMs: 1000 }))
 *
 * @param open opens one more replica of the same store. The check closes it.
 */
export async function checkStore(open: () => SharedStore | Promise<SharedStore>): Promise<void> {
  // Loaded on use, because most tests need none of them.
  const { ALL_CHECKS } = await import('./store-checks/all-checks.ts')
  for (const check of ALL_CHECKS) {
    const opened: SharedStore[] = []
    try {
      await check(async () => {
        const store = await open()
        opened.push(store)
        return store
      })
    } finally {
      await Promise.all(opened.map((store) => store.close()))
    }
  }
}
