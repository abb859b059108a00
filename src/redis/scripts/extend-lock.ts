/** Extends a lock, if it is still held with this token. */

import { script } from './script.ts'

/** KEYS: lock. ARGV: token, life. */
export const extendLock = script(
  'extend-lock',
  `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
)
