/** Finds out whether a session is idle, without using it, and ends it if it is. */

import { SESSION, script } from './script.ts'

/**
 * KEYS: session, calls, streams, dirty. ARGV: start of the names of streams, of logs; the standing stream; how long it must have been idle to
 * be ended, or '' to keep it; replicas that live. Returns 'gone'; or its record, with the time that it was idle, or '' while it is in use; or
 * 'ended'.
 */
export const idleSession = script(
  'idle-session',
  `${SESSION}
local text = redis.call('GET', KEYS[1])
if not text then return 'gone' end
local session = head(text)
local live = {}
for at = 5, #ARGV do live[ARGV[at]] = true end
local function isUsed()
  for _, runner in ipairs(redis.call('HVALS', KEYS[2])) do
    if live[string.match(runner, '^%S+')] then return true end
  end
  local names = redis.call('ZRANGE', KEYS[3], 0, -1)
  names[#names + 1] = ARGV[3]
  for _, name in ipairs(names) do
    local stream = redis.call('HMGET', ARGV[1] .. name, 'owner', 'over', 'reader')
    -- A request of a replica that died is taken over.
    if not stream[2] and (stream[1] or (stream[3] and live[stream[3]])) then return true end
  end
  return false
end
local idle = isUsed() and '' or whole(math.max(0, session.life - redis.call('PTTL', KEYS[1])))
if ARGV[4] == '' or idle == '' or tonumber(idle) < tonumber(ARGV[4]) then return { idle, string.sub(text, session.at) } end
local names = redis.call('ZRANGE', KEYS[3], 0, -1)
names[#names + 1] = ARGV[3]
for _, name in ipairs(names) do redis.call('DEL', ARGV[1] .. name, ARGV[2] .. name) end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
return 'ended'`,
)
