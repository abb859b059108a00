/** Opens a lock, or gives a claim up, if it is still held with this token. */

import { script } from './script.ts'

/** KEYS: lock or claim. ARGV: token, or the replica that claims. */
export const unlock = script(
  'unlock',
  `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
)
