/** Sends a command to the store again until it answers. */

import { McpError } from '../../../protocol/errors.ts'
import type { ReplicaServices } from './replica-services.ts'

/** How long to wait before a command is sent again while the store does not answer. Twice as long each time. */
const RETRY_MS = 100
const MAX_RETRY_MS = 1000

/**
 * Gives up when this replica loses its lease, because others continue then. A batch that is sent again is added once.
 *
 * @param isOver true: the outcome does not matter any more
 * @param patienceMs a store whose memory is full refuses large commands and still renews the lease, so the lease does not end this
 */
export async function untilHeard<T>(
  { store, clock }: Pick<ReplicaServices, 'store' | 'clock'>,
  command: () => Promise<T>,
  isOver: () => boolean = () => false,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const giveUpAt = clock.now() + patienceMs
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof McpError) || error.code !== 'ERR_STORE_DOWN' || !store.replica.isHeld || isOver()) throw error
      if (clock.now() + waitMs > giveUpAt) throw error
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
    }
  }
}
