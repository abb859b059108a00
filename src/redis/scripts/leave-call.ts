/** Removes a request that is over. */

import { CALLS, script } from './script.ts'

/** KEYS: calls. ARGV: id of the request, replica, attempt or '' for any. The request of another replica stays: a client may use the id again. */
export const leaveCall = script(
  'leave-call',
  `${CALLS}
local runner, attempt = readCall(redis.call('HGET', KEYS[1], ARGV[1]))
if runner == ARGV[2] and (ARGV[3] == '' or attempt == ARGV[3]) then return redis.call('HDEL', KEYS[1], ARGV[1]) end
return 0`,
)
