/** Sends a command to the store again until it answers. */

import { McpError } from '../../../protocol/errors.ts'
import type { ReplicaServices } from './replica-services.ts'

/** How long to wait before a command is sent again while the store does not answer. */
const RETRY_MS = 100

/**
 * Gives up when this replica loses its lease, because others continue then. A batch that is sent again is added once.
 *
 * @param isOver true: the outcome does not matter any more
 */
export async function untilHeard<T>(
  { store, clock }: Pick<ReplicaServices, 'store' | 'clock'>,
  command: () => Promise<T>,
  isOver: () => boolean = () => false,
): Promise<T> {
  for (;;) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof McpError) || error.code !== 'ERR_STORE_DOWN' || !store.replica.isHeld || isOver()) throw error
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
    }
  }
}
