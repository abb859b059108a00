/** Adds a member to a topic. The topic lives as long as its last member. */

import { NOW, script } from './script.ts'

/** KEYS: topic. ARGV: member, life. */
export const addMember = script(
  'add-member',
  `${NOW}
local time = now()
-- A cursor of 'list-members' relies on it: an expiry never becomes earlier, also if a failover sets the time back.
redis.call('ZADD', KEYS[1], 'GT', whole(time + tonumber(ARGV[2])), ARGV[1])
-- Most topics are never counted, so some of what has expired is removed here: more than one comes in.
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(time), 'LIMIT', 0, 10)
if #expired > 0 then redis.call('ZREM', KEYS[1], unpack(expired)) end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`,
)
