/** A token bucket. */

import { NOW, script } from './script.ts'

/** KEYS: bucket. ARGV: tokens in a second, burst. Returns 0, or the milliseconds to wait. */
export const takeToken = script(
  'take-token',
  `${NOW}
local time = now()
local perSecond, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.call('HMGET', KEYS[1], 'left', 'at')
-- In thousandths of a token, so that whole rates and milliseconds add up without rounding.
local left = kept[1] and tonumber(kept[1]) or burst * 1000
local filledAt = kept[2] and tonumber(kept[2]) or time
left = math.min(burst * 1000, left + math.max(0, time - filledAt) * perSecond)
local wait = 0
if left < 1000 then wait = math.ceil((1000 - left) / perSecond) else left = left - 1000 end
redis.call('HSET', KEYS[1], 'left', tostring(left), 'at', whole(time))
redis.call('PEXPIRE', KEYS[1], whole(math.ceil(burst * 1000 / perSecond) + 1))
return wait`,
)
