/** Makes a replica that has left look as if it had been seen long ago, so that others find it at once. */

import { script } from './script.ts'

/** KEYS: directory. ARGV: replica, life of the directory. */
export const markLeft = script(
  'mark-left',
  `redis.call('ZADD', KEYS[1], 0, ARGV[1])
-- The directory may be gone, and this replica may be the last one.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`,
)
