/** Sends a command to the store again until it answers. */

import type { Clock } from '../../../base/clock.ts'
import { isDown } from '../../../store/faults.ts'
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
  const isLate = (): boolean => !store.replica.isHeld || isOver()
  return resend(clock, command, (waitMs) => isLate() || clock.now() + waitMs > giveUpAt, isLate)
}

/**
 * @param givesUp asked each time that the store did not answer, with the time until the next attempt
 * @param isLate asked before each further attempt. True: the outcome has ceased to matter in the meantime
 */
export async function resend<T>(
  clock: Clock,
  command: () => Promise<T>,
  givesUp: (waitMs: number) => boolean,
  isLate: () => boolean = () => false,
): Promise<T> {
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    try {
      return await command()
    } catch (error) {
      if (!isDown(error) || givesUp(waitMs)) throw error
      await new Promise<void>((resolve) => clock.after(waitMs, resolve))
      if (isLate()) throw error
    }
  }
}
