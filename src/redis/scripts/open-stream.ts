/** Creates the log of one request. */

import { SESSION, script } from './script.ts'

/**
 * KEYS: what lasts, stream, log. ARGV: name of the stream, replica, call, attempt. Returns the epoch; or 'own' if this replica runs the stream
 * already.
 */
export const openStream = script(
  'open-stream',
  `${SESSION}
local text = redis.call('GET', KEYS[1])
if not text then return 'gone' end
if redis.call('EXISTS', KEYS[7]) == 1 then
  local kept = redis.call('HMGET', KEYS[7], 'attempt', 'epoch', 'owner', 'over')
  if kept[1] == ARGV[4] then return tonumber(kept[2]) end
  return kept[3] == ARGV[2] and not kept[4] and 'own' or 'exists'
end
local epoch = now()
redis.call('HSET', KEYS[7], 'owner', ARGV[2], 'epoch', whole(epoch), 'call', ARGV[3], 'reader', ARGV[2], 'number', 1, 'readers', 1, 'attempt', ARGV[4])
redis.call('ZADD', KEYS[3], 0, ARGV[1])
touch(text, KEYS[7])
return epoch`,
)
