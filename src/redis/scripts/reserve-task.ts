/** Counts a task in a set of limited size. */

import { NOW, script } from './script.ts'

/** KEYS: set. ARGV: name of the task, score or '' for the end of its life, most tasks, life. Returns 0 if the set is full. */
export const reserveTask = script(
  'reserve-task',
  `${NOW}
local score = ARGV[2]
if score == '' then
  local time = now()
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(time))
  score = whole(time + tonumber(ARGV[4]))
end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) and not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], score, ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1`,
)
