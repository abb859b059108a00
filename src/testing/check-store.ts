/** `checkStore`: the rules that every store of replicas must keep. */

import { checkMembers } from '../protocol/check-members.ts'
import type { SharedStore } from '../store/shared-store.ts'

/** Options for `checkStore`. */
export interface CheckStoreOptions {
  /**
   * Cuts one of the replicas off from the store, as if its process had been stopped or its network had failed: no command of it reaches the
   * store. Returns a function that connects it again, if that is possible. Without this function the check never sees a lease that ends
   * while its replica says nothing.
   */
  silence?(store: SharedStore): (() => void) | undefined
}

/**
 * Checks that a store keeps the rules of `SharedStore`, and if it has tasks, those of `TaskStore`. Rejects with the first rule that it
 * breaks. It waits for leases to end, so open the store with a lease of about a second. The store must have no tasks yet.
 *
 * @example
 * await checkStore(() => postgresStore('postgres://127.0.0.1/test', { leaseMs: 1000 }))
 *
 * @param open opens one more replica of the same store. The check closes it.
 */
export async function checkStore(open: () => SharedStore | Promise<SharedStore>, options: CheckStoreOptions = {}): Promise<void> {
  checkMembers('checkStore', options, { silence: 1 })
  // Loaded on use, because most tests need none of them.
  const [{ ALL_CHECKS }, { checkedStore }] = await Promise.all([
    import('./store-checks/all-checks.ts'),
    import('./store-checks/checked-store.ts'),
  ])
  const { silence } = options
  /** What `open` has returned, by what the checks use. */
  const own = new WeakMap<SharedStore, SharedStore>()
  const itsOptions: CheckStoreOptions = silence ? { silence: (checked) => silence(own.get(checked) ?? checked) } : {}
  for (const check of ALL_CHECKS) {
    const opened: SharedStore[] = []
    let lastCall: string | undefined
    try {
      await check(async () => {
        const store = await open()
        opened.push(store)
        expectMembers(store)
        const checked = checkedStore(store, (method) => {
          lastCall = method
        })
        own.set(checked, store)
        return checked
      }, itsOptions)
    } catch (error) {
      throw explained(error, lastCall)
    } finally {
      // An incomplete store may have no `close()`.
      await Promise.all(opened.map((store) => store?.close?.()))
    }
  }
}

const HINT = 'Each call of open() must return another replica of the same store'

/** A store that is not shared breaks rules of methods that are right. */
function explained(error: unknown, lastCall: string | undefined): unknown {
  if (!(error instanceof Error) || lastCall === undefined) return error
  error.message += ` (last call: ${lastCall}). ${HINT}`
  return error
}

/** Names all that is missing at once: an author who begins with an empty object learns what to write. */
function expectMembers(store: SharedStore): void {
  if (typeof store !== 'object' || store === null) throw new Error('checkStore() needs a function that returns a store')
  const parts = ['sessions', 'streams', 'replica', 'topics', 'counters'] as const
  const missing = [
    ...parts.filter((name) => typeof store[name] !== 'object' || store[name] === null),
    ...(['health', 'close'] as const).filter((name) => typeof store[name] !== 'function').map((name) => `${name}()`),
  ]
  if (missing.length > 0) throw new Error(`SharedStore of portico/store: the store has no ${missing.join(', ')}`)
}
