/** Notes that the client has cancelled a request in progress. */

import { CALLS, script } from './script.ts'

/** KEYS: calls. ARGV: id of the request. Returns the replica that runs it. */
export const cancelCall = script(
  'cancel-call',
  `${CALLS}
local runner, attempt = readCall(redis.call('HGET', KEYS[1], ARGV[1]))
if not runner then return false end
redis.call('HSET', KEYS[1], ARGV[1], callText(runner, attempt, true))
return runner`,
)
