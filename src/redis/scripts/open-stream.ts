/** Creates the log of one request. */

import { SESSION, script } from './script.ts'

/**
 * KEYS: what lasts, stream, log. ARGV: name of the stream, replica, call, attempt. Returns the epoch; or 'own' if this replica runs the stream
 * already.
 */
export const openStream = script(
  'open-stream',
  `${SESSION}
local text = readSession()
if not text then return 'gone' end
if redis.call('EXISTS', streamKey) == 1 then
  local kept = redis.call('HMGET', streamKey, 'attempt', 'epoch', 'owner', 'over')
  if kept[1] == ARGV[4] then return tonumber(kept[2]) end
  return kept[3] == ARGV[2] and not kept[4] and 'own' or 'exists'
end
local epoch = now()
redis.call('HSET', streamKey, 'owner', ARGV[2], 'epoch', whole(epoch), 'call', ARGV[3], 'reader', ARGV[2], 'number', 1, 'readers', 1, 'attempt', ARGV[4])
redis.call('ZADD', streamsKey, 0, ARGV[1])
touch(text, streamKey)
return epoch`,
)
