/** Adds events to a stream, with their questions. A batch that comes again is recognised; one of an earlier owner is refused. */

import { MAX_PRODUCERS } from '../../store/stream-logs.ts'
import { LOG, SESSION, script } from './script.ts'

/**
 * KEYS: what lasts, stream, log.
 * ARGV: 1 replica, 2 number of the batch, 3 epoch or '' for the standing stream, 4 '1' if it ends the stream, 5 most events, 6 most
 * bytes, 7 life of an ended stream, 8 most ended streams, 9 name of the stream, 10 start of the names of streams, 11 of logs, 12 producer,
 * 13 most bytes of the session, 14 the standing stream; then for each event: payload, question or '', key of coalesce or ''.
 *
 * Returns the time and the number of the first position, one character for each event ('1': added), and the reader.
 */
export const appendEvents = script(
  'append-events',
  `${SESSION}${LOG}
local replica, batch, epoch, isLast = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local isStanding = epoch == ''
-- A replica that lost its lease has another name, and is still the same producer.
local producer = ARGV[12]
local text = readSession()
if not text then return 'gone' end
local kept = redis.call('HMGET', streamKey, 'owner', 'epoch', 'over', 'count', 'batches', 'bytes', 'reader', 'given')
if not isStanding and not kept[1] then return 'gone' end
local reader = kept[7] or ''
local batches = kept[5] and cmsgpack.unpack(kept[5]) or {}
for at, each in ipairs(batches) do
  if each[1] == producer then
    if batch == each[2] then return { each[3], each[4], each[5], reader } end
    if batch < each[2] then return 'fenced' end
    table.remove(batches, at)
    break
  end
end
if kept[3] or (not isStanding and (kept[1] ~= replica or kept[2] ~= epoch)) then return 'fenced' end

local time = now()
local count = tonumber(kept[4] or '0')
local first = count + 1
local given = numberOf(kept[8])
local bytes = tonumber(kept[6] or '0')
local added = {}
for at = 15, #ARGV, 3 do
  local payload, question, coalesce = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local unread = coalesce ~= '' and redis.call('HGET', dirtyKey, coalesce)
  if unread and tonumber(unread) > given then
    added[#added + 1] = '0'
  else
    count = count + 1
    redis.call('RPUSH', logKey, whole(time) .. '-' .. whole(count) .. ' e' .. payload)
    bytes = bytes + #payload
    if question ~= '' then redis.call('HSET', streamKey, 'q:' .. question, isStanding and replica or '') end
    if coalesce ~= '' then redis.call('HSET', dirtyKey, coalesce, whole(count), whole(count), coalesce) end
    added[#added + 1] = '1'
  end
end

-- A change with a higher number than 'newest' was added again below.
local own = { log = logKey, bytes = bytes, count = count, newest = count, given = isStanding and given, length = redis.call('LLEN', logKey) }
local function dropOldest(of)
  local oldest = redis.call('LPOP', of.log)
  local space = string.find(oldest, ' ', 1, true)
  local size = #oldest - space - 1
  of.bytes = of.bytes - size
  of.dropped = string.sub(oldest, 1, space - 1)
  of.length = of.length - 1
  local number = whole(numberOf(of.dropped))
  local coalesce = of.given and redis.call('HGET', dirtyKey, number)
  if not coalesce then return end
  redis.call('HDEL', dirtyKey, number)
  if redis.call('HGET', dirtyKey, coalesce) ~= number then return end
  redis.call('HDEL', dirtyKey, coalesce)
  if tonumber(number) <= of.given or tonumber(number) > of.newest then return end
  -- The client has not read of this change, so it becomes the newest event.
  of.count = of.count + 1
  redis.call('RPUSH', of.log, whole(time) .. '-' .. whole(of.count) .. string.sub(oldest, space))
  redis.call('HSET', dirtyKey, coalesce, whole(of.count), whole(of.count), coalesce)
  of.bytes = of.bytes + size
  of.length = of.length + 1
end
while own.length > tonumber(ARGV[5]) or (own.bytes > tonumber(ARGV[6]) and own.length > 1) do dropOldest(own) end

-- Small streams are not added up: hundreds of them are less than the limit.
local most = tonumber(ARGV[13])
if own.bytes > most / 512 then
  local ended = redis.call('ZRANGEBYSCORE', streamsKey, 1, '+inf')
  local running = redis.call('ZRANGEBYSCORE', streamsKey, 0, 0)
  running[#running + 1] = ARGV[14]
  local sizes, others = {}, 0
  for _, names in ipairs({ ended, running }) do
    for _, name in ipairs(names) do
      if name ~= ARGV[9] then
        sizes[name] = tonumber(redis.call('HGET', ARGV[10] .. name, 'bytes') or '0')
        others = others + sizes[name]
      end
    end
  end
  for _, name in ipairs(ended) do
    if others + own.bytes <= most then break end
    if sizes[name] then
      redis.call('DEL', ARGV[10] .. name, ARGV[11] .. name)
      redis.call('ZREM', streamsKey, name)
      others = others - sizes[name]
    end
  end
  -- Changes that were added again stay.
  local function reduce(of, keep, rest)
    while of.bytes + rest > most and of.length > keep and of.count - of.length < of.newest do dropOldest(of) end
  end
  reduce(own, 1, others)
  for _, name in ipairs(running) do
    if others + own.bytes <= most then break end
    if (sizes[name] or 0) > 0 then
      local key, of = ARGV[10] .. name, { log = ARGV[11] .. name, bytes = sizes[name] }
      local known = redis.call('HMGET', key, 'count', 'given')
      of.count, of.newest, of.given = tonumber(known[1]), tonumber(known[1]), name == ARGV[14] and numberOf(known[2])
      of.length = redis.call('LLEN', of.log)
      others = others - of.bytes
      reduce(of, 0, others + own.bytes)
      others = others + of.bytes
      redis.call('HSET', key, 'bytes', of.bytes, 'count', whole(of.count))
      if of.dropped then redis.call('HSET', key, 'dropped', of.dropped) end
    end
  end
end

local marks = table.concat(added)
table.insert(batches, 1, { producer, batch, time, first, marks })
while #batches > ${MAX_PRODUCERS} do table.remove(batches) end
redis.call('HSET', streamKey, 'batches', cmsgpack.pack(batches), 'bytes', own.bytes, 'count', own.count)
if own.dropped then redis.call('HSET', streamKey, 'dropped', own.dropped) end

local function lastMoment() return math.min(time + redis.call('PTTL', sessionKey), head(text).ends) end
if isStanding then
  -- Notices must not keep a session alive whose client is gone.
  local expiry = whole(lastMoment())
  for _, key in ipairs({ streamKey, logKey, dirtyKey }) do redis.call('PEXPIREAT', key, expiry) end
elseif not isLast then
  touch(text, streamKey, logKey)
else
  redis.call('HSET', streamKey, 'over', 1)
  redis.call('HDEL', streamKey, 'call')
  -- What a later run would need: steps, questions and answers.
  for _, field in ipairs(redis.call('HKEYS', streamKey)) do
    if string.match(field, '^[jqa]:') then redis.call('HDEL', streamKey, field) end
  end
  touch(text)
  local expiry = whole(math.min(time + tonumber(ARGV[7]), lastMoment()))
  redis.call('PEXPIREAT', streamKey, expiry)
  redis.call('PEXPIREAT', logKey, expiry)
  redis.call('ZADD', streamsKey, whole(time), ARGV[9])
  local excess = redis.call('ZCOUNT', streamsKey, 1, '+inf') - tonumber(ARGV[8])
  if excess > 0 then
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', streamsKey, 1, '+inf', 'LIMIT', 0, excess)) do
      redis.call('DEL', ARGV[10] .. name, ARGV[11] .. name)
      redis.call('ZREM', streamsKey, name)
    end
  end
end
return { time, first, marks, reader }`,
)
