/** Reads a part of a topic. */

import { NOW, script } from './script.ts'

/**
 * KEYS: topic. ARGV: cursor. Returns the next cursor, which is '' after the last part, and members.
 *
 * The cursor is an expiry, so another node can go on after a failover. Renewals only move members to later parts.
 */
export const listMembers = script(
  'list-members',
  `${NOW}
local size = 1000
local after = '(' .. whole(math.max(now(), tonumber(ARGV[1])))
local found = redis.call('ZRANGEBYSCORE', KEYS[1], after, '+inf', 'WITHSCORES', 'LIMIT', 0, size)
local last = #found / 2 == size and found[#found] or ''
local members, isListed = {}, {}
local function add(member)
  if not isListed[member] then
    members[#members + 1] = member
    isListed[member] = true
  end
end
for at = 1, #found, 2 do add(found[at]) end
-- Those with the expiry of the cursor must not be on two sides of it.
if last ~= '' then
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], last, last)) do add(member) end
end
return { last, members }`,
)
