/** Reads on, unless another reader has attached. */

import { READ, SESSION, script } from './script.ts'

/** KEYS: session, stream, log, dirty, streams. ARGV: number of the reader, '1' if a position is given, position, limit. Returns over, events. */
export const readEvents = script(
  'read-events',
  `${SESSION}${READ}
local text = redis.call('GET', KEYS[1])
if not text or redis.call('EXISTS', KEYS[2]) == 0 then return 'gone' end
local kept = redis.call('HMGET', KEYS[2], 'number', 'over', 'dropped', 'given', 'count')
if kept[1] ~= ARGV[1] then return 'superseded' end
local stream = { over = kept[2], dropped = kept[3], given = kept[4], count = kept[5] }
local skip = ARGV[2] == '1' and skipTo(stream, KEYS[3], ARGV[3]) or ARGV[2] ~= '1' and skipGiven(stream, KEYS[3])
if not skip then return 'lost' end
local events, over = readEvents(stream, KEYS[2], KEYS[3], KEYS[4], skip, tonumber(ARGV[4]))
if stream.over then touch(KEYS[1], text, KEYS[5]) else touch(KEYS[1], text, KEYS[2], KEYS[3], KEYS[4], KEYS[5]) end
return { over, events }`,
)
