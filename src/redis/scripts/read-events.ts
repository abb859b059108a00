/** Reads on, unless another reader has attached. */

import { READ, script } from './script.ts'

/** KEYS: what lasts, stream, log. ARGV: number of the reader, '1' if a position is given, position, limit. Returns over, events. */
export const readEvents = script(
  'read-events',
  `${READ}
local text = readSession()
if not text or redis.call('EXISTS', streamKey) == 0 then return 'gone' end
local kept = redis.call('HMGET', streamKey, 'number', 'over', 'dropped', 'given', 'count')
if kept[1] ~= ARGV[1] then return 'superseded' end
local stream = { over = kept[2], dropped = kept[3], given = kept[4], count = kept[5] }
local skip = ARGV[2] == '1' and skipTo(stream, ARGV[3]) or ARGV[2] ~= '1' and skipGiven(stream)
if not skip then return 'lost' end
local events, over = readEvents(text, stream, skip, tonumber(ARGV[4]))
return { over, events }`,
)
