/** Reads a part of a topic, or counts it. */

import { NOW, script } from './script.ts'

/** KEYS: topic. ARGV: cursor; '' to count. Returns the next cursor and members; or the number. */
export const listMembers = script(
  'list-members',
  `${NOW}
local time = now()
if ARGV[1] == '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(time))
  return redis.call('ZCARD', KEYS[1])
end
local page = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 1000)
local members = {}
for at = 1, #page[2], 2 do
  if tonumber(page[2][at + 1]) > time then members[#members + 1] = page[2][at] end
end
return { page[1], members }`,
)
