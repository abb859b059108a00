/** Notes in the directory until when a replica has its lease. */

import { NOW, script } from './script.ts'

/** KEYS: directory. ARGV: replica, time that its lease lasts (0: it has left), life of the directory. */
export const registerReplica = script(
  'register-replica',
  `${NOW}
redis.call('ZADD', KEYS[1], whole(now() + tonumber(ARGV[2])), ARGV[1])
-- The directory may be gone, and this replica may be the last one.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1`,
)
