/** Reads the record of a session, moves its expiry, and registers a request. */

import { SESSION, script } from './script.ts'

/** KEYS: session, calls. ARGV: id of the request or '', replica, most requests, attempt. Returns revision, renewal due, life, record. */
export const enterSession = script(
  'enter-session',
  `${SESSION}
local text = redis.call('GET', KEYS[1])
if not text then return 'gone' end
if ARGV[1] ~= '' then
  local runner = redis.call('HGET', KEYS[2], ARGV[1])
  local own = ARGV[2] .. ' ' .. ARGV[4]
  -- The client library of a cluster sends a script again after a lost connection.
  if runner and runner ~= own then return 'duplicate' end
  if not runner and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then return 'full' end
  redis.call('HSET', KEYS[2], ARGV[1], own)
end
local time = now()
local session = head(text)
local record = string.sub(text, session.at)
local due = 0
if time - session.renewed > session.life / 10 then
  due = 1
  session.renewed = time
  redis.call('SET', KEYS[1], sessionText(session, record), 'KEEPTTL')
end
touch(KEYS[1], text, KEYS[2])
return { session.revision, due, session.life, record }`,
)
