/** Gives the lease of a replica up. What it ran stays for others. */

import { script } from './script.ts'

/** KEYS: lease, inbox, runs. Returns how many streams are left. */
export const leaveLease = script(
  'leave-lease',
  `redis.call('DEL', KEYS[1], KEYS[2])
return redis.call('SCARD', KEYS[3])`,
)
