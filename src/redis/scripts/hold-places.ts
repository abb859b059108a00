/** Counts the places that each holder uses. */

import { NOW, script } from './script.ts'

/** KEYS: places. ARGV: holder, places that it uses, most places of all, life. Returns the places that it may use. */
export const holdPlaces = script(
  'hold-places',
  `${NOW}
local time = now()
local count, most, life = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local others, own, ends = 0, 0, time + life
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local held, till = string.match(all[at + 1], '^(%d+) (%d+)$')
  if tonumber(till) <= time then
    redis.call('HDEL', KEYS[1], all[at])
  elseif all[at] == ARGV[1] then
    own = tonumber(held)
  else
    others = others + tonumber(held)
    ends = math.max(ends, tonumber(till))
  end
end
local granted = math.min(count, math.max(own, most - others))
if granted > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], whole(granted) .. ' ' .. whole(time + life))
  redis.call('PEXPIREAT', KEYS[1], whole(ends))
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
return granted`,
)
