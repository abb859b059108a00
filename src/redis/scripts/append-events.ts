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
local session, streams, dirty, stream, log = KEYS[1], KEYS[3], KEYS[6], KEYS[7], KEYS[8]
local replica, batch, epoch, isLast = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local isStanding = epoch == ''
-- A replica that lost its lease has another name, and is still the same producer.
local producer = ARGV[12]
local text = redis.call('GET', session)
if not text then return 'gone' end
local kept = redis.call('HMGET', stream, 'owner', 'epoch', 'over', 'count', 'batches', 'bytes', 'reader', 'given')
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
  local unread = coalesce ~= '' and redis.call('HGET', dirty, coalesce)
  if unread and tonumber(unread) > given then
    added[#added + 1] = '0'
  else
    count = count + 1
    redis.call('RPUSH', log, whole(time) .. '-' .. whole(count) .. ' e' .. payload)
    bytes = bytes + #payload
    if question ~= '' then redis.call('HSET', stream, 'q:' .. question, isStanding and replica or '') end
    if coalesce ~= '' then redis.call('HSET', dirty, coalesce, whole(count), whole(count), coalesce) end
    added[#added + 1] = '1'
  end
end

local length = redis.call('LLEN', log)
local dropped
-- A notice with a higher number was added again below.
local newest = count
local function dropOldest()
  local oldest = redis.call('LPOP', log)
  local space = string.find(oldest, ' ', 1, true)
  local size = #oldest - space - 1
  bytes = bytes - size
  dropped = string.sub(oldest, 1, space - 1)
  length = length - 1
  local number = whole(numberOf(dropped))
  local coalesce = isStanding and redis.call('HGET', dirty, number)
  if not coalesce then return end
  redis.call('HDEL', dirty, number)
  if redis.call('HGET', dirty, coalesce) ~= number then return end
  redis.call('HDEL', dirty, coalesce)
  if tonumber(number) <= given or tonumber(number) > newest then return end
  -- The client has not read of this change, so it becomes the newest event.
  count = count + 1
  redis.call('RPUSH', log, whole(time) .. '-' .. whole(count) .. string.sub(oldest, space))
  redis.call('HSET', dirty, coalesce, whole(count), whole(count), coalesce)
  bytes = bytes + size
  length = length + 1
end
while length > tonumber(ARGV[5]) or (bytes > tonumber(ARGV[6]) and length > 1) do dropOldest() end

-- Small streams are not added up: hundreds of them are less than the limit.
local most = tonumber(ARGV[13])
if bytes > most / 512 then
  local ended = redis.call('ZRANGEBYSCORE', streams, 1, '+inf')
  local running = redis.call('ZRANGEBYSCORE', streams, 0, 0)
  running[#running + 1] = ARGV[14]
  local sizes, total = {}, bytes
  for _, names in ipairs({ ended, running }) do
    for _, name in ipairs(names) do
      if name ~= ARGV[9] then
        sizes[name] = tonumber(redis.call('HGET', ARGV[10] .. name, 'bytes') or '0')
        total = total + sizes[name]
      end
    end
  end
  for _, name in ipairs(ended) do
    if total <= most then break end
    if sizes[name] then
      redis.call('DEL', ARGV[10] .. name, ARGV[11] .. name)
      redis.call('ZREM', streams, name)
      total = total - sizes[name]
    end
  end
  total = total - bytes
  while total + bytes > most and length > 1 do dropOldest() end
  total = total + bytes
  for _, name in ipairs(running) do
    if total <= most then break end
    if (sizes[name] or 0) > 0 then
      local newest = redis.call('LINDEX', ARGV[11] .. name, -1)
      redis.call('DEL', ARGV[11] .. name)
      redis.call('HSET', ARGV[10] .. name, 'bytes', 0)
      if newest then redis.call('HSET', ARGV[10] .. name, 'dropped', string.sub(newest, 1, string.find(newest, ' ', 1, true) - 1)) end
      if name == ARGV[14] then redis.call('DEL', dirty) end
      total = total - sizes[name]
    end
  end
end

local marks = table.concat(added)
table.insert(batches, 1, { producer, batch, time, first, marks })
while #batches > ${MAX_PRODUCERS} do table.remove(batches) end
redis.call('HSET', stream, 'batches', cmsgpack.pack(batches), 'bytes', bytes, 'count', count)
if dropped then redis.call('HSET', stream, 'dropped', dropped) end

if isStanding then
  -- Notices must not keep a session alive whose client is gone.
  local expiry = whole(time + redis.call('PTTL', session))
  for _, key in ipairs({ stream, log, dirty }) do redis.call('PEXPIREAT', key, expiry) end
elseif not isLast then
  touch(text, stream, log)
else
  redis.call('HSET', stream, 'over', 1)
  redis.call('HDEL', stream, 'call')
  -- What a later run would need: steps, questions and answers.
  for _, field in ipairs(redis.call('HKEYS', stream)) do
    if string.match(field, '^[jqa]:') then redis.call('HDEL', stream, field) end
  end
  touch(text)
  local expiry = whole(time + math.min(tonumber(ARGV[7]), redis.call('PTTL', session)))
  redis.call('PEXPIREAT', stream, expiry)
  redis.call('PEXPIREAT', log, expiry)
  redis.call('ZADD', streams, whole(time), ARGV[9])
  local ended = redis.call('ZRANGEBYSCORE', streams, 1, '+inf')
  for at = 1, #ended - tonumber(ARGV[8]) do
    redis.call('DEL', ARGV[10] .. ended[at], ARGV[11] .. ended[at])
    redis.call('ZREM', streams, ended[at])
  end
end
return { time, first, marks, reader }`,
)
