/** Makes another replica the owner of a stream: raises the epoch and writes a fence into the log, in one step. */

import { SESSION, script } from './script.ts'

/**
 * KEYS: what lasts, stream, log. ARGV: owner before, new owner, attempt. Returns epoch, call, and the fields of journal, answers, questions;
 * or 'own' if the new owner is the owner already.
 */
export const takeOver = script(
  'take-over',
  `${SESSION}
local text = readSession()
if not text then return false end
local kept = redis.call('HMGET', streamKey, 'owner', 'epoch', 'over', 'call', 'attempt')
if kept[3] then return false end
local epoch
if kept[1] == ARGV[2] and kept[5] == ARGV[3] then
  -- The takeover was made, and sent again after a lost connection.
  epoch = tonumber(kept[2])
else
  if kept[1] ~= ARGV[1] then return kept[1] == ARGV[2] and 'own' end
  -- Redis may have lost the last epoch in a failover. Its clock goes on.
  epoch = math.max(tonumber(kept[2]) + 1, now())
  local count = redis.call('HINCRBY', streamKey, 'count', 1)
  redis.call('RPUSH', logKey, whole(now()) .. '-' .. whole(count) .. ' f' .. ARGV[2])
  redis.call('HSET', streamKey, 'owner', ARGV[2], 'epoch', whole(epoch), 'attempt', ARGV[3])
  redis.call('HINCRBY', streamKey, 'bytes', #ARGV[2])
end
touch(text, streamKey, logKey)
local fields = {}
local all = redis.call('HGETALL', streamKey)
for at = 1, #all, 2 do
  local kind = string.sub(all[at], 1, 2)
  if kind == 'j:' or kind == 'a:' or kind == 'q:' then
    fields[#fields + 1] = all[at]
    fields[#fields + 1] = all[at + 1]
  end
end
return { epoch, kept[4], fields }`,
)
