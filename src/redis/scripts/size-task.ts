/** Counts the bytes of a task in a sum of limited size. */

import { NOW, script } from './script.ts'

/** What a task counts beyond its length, so that there is room for its end. */
export const EXTRA_BYTES = 4096

/**
 * KEYS: sizes by name with their sum, ends of life by name. ARGV: name of the task, its length (0 removes it), most bytes, life, and
 * the bytes that must be counted now, or ''. Returns -1 if there is no room, otherwise the bytes before. A change that the bytes before
 * have room for changes nothing, unless it gives much back. What has expired is not counted any more.
 */
export const sizeTask = script(
  'size-task',
  `${NOW}
local EXTRA = ${EXTRA_BYTES}
local time = now()
local function remove(name)
  local bytes = tonumber(redis.call('HGET', KEYS[1], name) or 0)
  redis.call('HDEL', KEYS[1], name)
  redis.call('ZREM', KEYS[2], name)
  redis.call('HINCRBY', KEYS[1], 'sum', whole(0 - bytes))
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', whole(time), 'LIMIT', 0, 1000)) do remove(name) end
local before = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
if ARGV[5] ~= '' and before ~= tonumber(ARGV[5]) then return before end
local length = tonumber(ARGV[2])
if length == 0 then
  remove(ARGV[1])
  if redis.call('ZCARD', KEYS[2]) == 0 then redis.call('DEL', KEYS[1]) end
  return before
end
if length <= before and length >= before - 2 * EXTRA then return before end
local bytes = length + EXTRA
local sum = tonumber(redis.call('HGET', KEYS[1], 'sum') or 0)
if bytes > before and sum + bytes - before > tonumber(ARGV[3]) then return -1 end
redis.call('HSET', KEYS[1], ARGV[1], whole(bytes))
redis.call('HINCRBY', KEYS[1], 'sum', whole(bytes - before))
redis.call('ZADD', KEYS[2], whole(time + tonumber(ARGV[4])), ARGV[1])
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ARGV[4]) then redis.call('PEXPIRE', key, ARGV[4]) end
end
return before`,
)
