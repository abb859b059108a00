/** Finds out whether a session is idle, without using it, and ends it if it is. */

import { REMOVE, SESSION, script } from './script.ts'

/**
 * KEYS: what lasts. ARGV: start of the names of streams, of logs; how long it must have been idle to be ended, or '' to keep it; replicas that
 * live. Returns 'gone'; or its record, with the time that it was idle, or '' while it is in use; or 'ended'.
 */
export const idleSession = script(
  'idle-session',
  `${SESSION}${REMOVE}
local text = readSession()
if not text then return 'gone' end
local session = head(text)
local live = {}
for at = 4, #ARGV do live[ARGV[at]] = true end
local function isOpen(key)
  local stream = redis.call('HMGET', key, 'owner', 'over', 'reader')
  -- A request of a replica that died is taken over.
  return not stream[2] and (stream[1] or (stream[3] and live[stream[3]]))
end
local function isUsed()
  for _, runner in ipairs(redis.call('HVALS', callsKey)) do
    if live[string.match(runner, '^%S+')] then return true end
  end
  for _, name in ipairs(redis.call('ZRANGE', streamsKey, 0, -1)) do
    if isOpen(ARGV[1] .. name) then return true end
  end
  return isOpen(standingKey)
end
local idle = isUsed() and '' or whole(math.max(0, session.life - redis.call('PTTL', sessionKey)))
if ARGV[3] == '' or idle == '' or tonumber(idle) < tonumber(ARGV[3]) then return { idle, string.sub(text, session.at) } end
removeSession(ARGV[1], ARGV[2])
return 'ended'`,
)
