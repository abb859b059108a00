/** Removes the requests of replicas that are gone. */

import { script } from './script.ts'

/** KEYS: calls. ARGV: the replicas that live. Returns how many were removed. */
export const forgetCalls = script(
  'forget-calls',
  `local lives = {}
for _, replica in ipairs(ARGV) do lives[replica] = true end
local removed = 0
local calls = redis.call('HGETALL', KEYS[1])
for at = 1, #calls, 2 do
  if not lives[string.match(calls[at + 1], '^%S+')] then removed = removed + redis.call('HDEL', KEYS[1], calls[at]) end
end
return removed`,
)
