/** A token bucket. */

import { NOW, script } from './script.ts'

/** KEYS: bucket. ARGV: tokens in a second, burst, tokens needed, most tokens. Returns the tokens, or the milliseconds to wait as a negative number. */
export const takeToken = script(
  'take-token',
  `${NOW}
local time = now()
local perSecond, burst, need, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local kept = redis.call('HMGET', KEYS[1], 'left', 'at')
-- In thousandths of a token, so that whole rates and milliseconds add up without rounding.
local left = kept[1] and tonumber(kept[1]) or burst * 1000
local filledAt = kept[2] and tonumber(kept[2]) or time
left = math.min(burst * 1000, left + math.max(0, time - filledAt) * perSecond)
local result
if left < need * 1000 then
  result = -math.max(1, math.ceil((need * 1000 - left) / perSecond))
else
  result = math.max(need, math.min(most, math.floor(left / 1000)))
  left = left - result * 1000
end
redis.call('HSET', KEYS[1], 'left', tostring(left), 'at', whole(time))
redis.call('PEXPIRE', KEYS[1], whole(math.ceil(burst * 1000 / perSecond) + 1))
return result`,
)
