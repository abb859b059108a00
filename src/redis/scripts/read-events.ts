/** Reads on, unless another reader has attached. */

import { READ, SESSION, script } from './script.ts'

/** KEYS: what lasts, stream, log. ARGV: number of the reader, '1' if a position is given, position, limit. Returns over, events. */
export const readEvents = script(
  'read-events',
  `${SESSION}${READ}
local text = redis.call('GET', KEYS[1])
local streamKey, log = KEYS[7], KEYS[8]
if not text or redis.call('EXISTS', streamKey) == 0 then return 'gone' end
local kept = redis.call('HMGET', streamKey, 'number', 'over', 'dropped', 'given', 'count')
if kept[1] ~= ARGV[1] then return 'superseded' end
local stream = { over = kept[2], dropped = kept[3], given = kept[4], count = kept[5] }
local skip = ARGV[2] == '1' and skipTo(stream, log, ARGV[3]) or ARGV[2] ~= '1' and skipGiven(stream, log)
if not skip then return 'lost' end
local events, over = readEvents(stream, streamKey, log, skip, tonumber(ARGV[4]))
if stream.over then touch(text) else touch(text, streamKey, log) end
return { over, events }`,
)
