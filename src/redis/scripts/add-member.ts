/** Adds a member to a topic. The topic lives as long as its last member. */

import { NOW, script } from './script.ts'

/** KEYS: topic. ARGV: member, life. */
export const addMember = script(
  'add-member',
  `${NOW}
local time = now()
-- A cursor of 'list-members' relies on it: an expiry never becomes earlier, also if a failover sets the time back.
redis.call('ZADD', KEYS[1], 'GT', whole(time + tonumber(ARGV[2])), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`,
)
