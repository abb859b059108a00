/** Reads the record of a session, moves its expiry, and registers a request. */

import { CALLS, SESSION, script } from './script.ts'

/**
 * KEYS: what lasts. ARGV: id of the request or '', replica, most requests, attempt; then the replicas that live, if the request is one of a
 * replica that is gone. Returns revision, renewal due, life, record, cancelled.
 */
export const enterSession = script(
  'enter-session',
  `${SESSION}${CALLS}
local text = readSession()
if not text then return 'gone' end
local cancelled = false
if ARGV[1] ~= '' then
  local runner, attempt
  runner, attempt, cancelled = readCall(redis.call('HGET', callsKey, ARGV[1]))
  -- The client library of a cluster sends a script again after a lost connection.
  local isOwn = runner == ARGV[2] and attempt == ARGV[4]
  local isLeft = #ARGV > 4
  for at = 5, #ARGV do isLeft = isLeft and runner ~= ARGV[at] end
  if runner and not isOwn and not isLeft then return 'duplicate' end
  if not runner and redis.call('HLEN', callsKey) >= tonumber(ARGV[3]) then return 'full' end
  redis.call('HSET', callsKey, ARGV[1], callText(ARGV[2], ARGV[4], cancelled))
end
local time = now()
local session = head(text)
local record = string.sub(text, session.at)
local due = 0
if time - session.renewed > session.life / 10 then
  due = 1
  session.renewed = time
  redis.call('SET', sessionKey, sessionText(session, record), 'KEEPTTL')
end
touch(text)
return { session.revision, due, session.life, record, cancelled and 1 or 0 }`,
)
