/** Removes the requests of replicas that are gone. */

import { CALLS, script } from './script.ts'

/**
 * KEYS: calls. ARGV: id of the request to look at, or '' for all; how many cancelled ones to keep, if it looks at all; the replicas that live.
 * Returns how many were removed, and how many cancelled ones are left: the replicas that take those over must know that they were cancelled.
 */
export const forgetCalls = script(
  'forget-calls',
  `${CALLS}
local lives = {}
for at = 3, #ARGV do lives[ARGV[at]] = true end
local only, maxKept = ARGV[1], tonumber(ARGV[2])
local removed, kept = 0, 0
local calls = only == '' and redis.call('HGETALL', KEYS[1]) or { only, redis.call('HGET', KEYS[1], only) }
for at = 1, #calls, 2 do
  local runner, _, cancelled = readCall(calls[at + 1])
  if calls[at + 1] and not lives[runner] then
    if only == '' and cancelled and kept < maxKept then kept = kept + 1
    else removed = removed + redis.call('HDEL', KEYS[1], calls[at]) end
  end
end
return { removed, kept }`,
)
