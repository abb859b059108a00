/** Makes a replica the reader of a stream, and reads, in one step: events that come later wake it. */

import { READ, script } from './script.ts'

/**
 * KEYS: what lasts, stream, log. ARGV: replica, '1' if a position is given, position, limit, '1' for the standing stream.
 * Returns over, number of the reader, owner, reader before, position before the first event, events.
 */
export const attachReader = script(
  'attach-reader',
  `${READ}
local text = readSession()
if not text then return 'gone' end
local kept = redis.call('HMGET', streamKey, 'owner', 'over', 'dropped', 'given', 'reader', 'count')
if ARGV[5] ~= '1' and not kept[1] then return 'gone' end
local stream = { over = kept[2], dropped = kept[3], given = kept[4], count = kept[6] }
local skip
local from = ARGV[3]
if ARGV[2] == '1' then
  skip = skipTo(stream, ARGV[3])
  if not skip then return 'lost' end
else
  skip = skipGiven(stream)
  from = numberOf(stream.given) >= numberOf(stream.dropped) and stream.given or stream.dropped or ''
end
local number = redis.call('HINCRBY', streamKey, 'readers', 1)
redis.call('HSET', streamKey, 'reader', ARGV[1], 'number', number)
local events, over = readEvents(text, stream, skip, tonumber(ARGV[4]))
return { over, number, kept[1] or '', kept[5] or '', from, events }`,
)
