/** Notes that a replica runs a stream, so that others find it when the replica dies. */

import { script } from './script.ts'

/** KEYS: lease, runs. ARGV: stream, life. Returns 0 if the lease has ended. */
export const noteRun = script(
  'note-run',
  `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1`,
)
