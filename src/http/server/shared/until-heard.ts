/** Sends a command to the store again until it answers. */

import type { Clock } from '../../../base/clock.ts'
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
  return resend(clock, command, (waitMs) => !store.replica.isHeld || isOver() || clock.now() + waitMs > giveUpAt)
}

/** @param givesUp asked each time that the store did not answer, with the time until the next attempt */
export async function resend<T>(clock: Clock, command: () => Promise<T>, givesUp: (waitMs: number) => boolean): Promise<T> {
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof McpError) || error.code !== 'ERR_STORE_DOWN' || givesUp(waitMs)) throw error
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
    }
  }
}
