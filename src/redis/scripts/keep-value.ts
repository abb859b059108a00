/** Stores a value unless the key has one, and returns the stored value. */

import { script } from './script.ts'

/** KEYS: value. ARGV: value, life. */
export const keepValue = script(
  'keep-value',
  `local kept = redis.call('GET', KEYS[1])
if kept then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return kept
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]`,
)
