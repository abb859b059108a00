/** What the scripts share. Every script touches keys of one hash tag only, so that it also runs in a cluster. */

import { createHash } from 'node:crypto'

/** A script that Redis runs as one step. */
export interface Script {
  name: string
  lua: string
  sha: string
}

export function script(name: string, lua: string): Script {
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/** Milliseconds since 1970, by the clock of Redis. */
export const NOW = `
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local function whole(number) return string.format('%.0f', number) end
`

/**
 * A script about a session gets what lasts as long as it as its first keys, and some get the stream that they are about.
 *
 * It moves the expiry at its end: Redis refuses a script when its memory is full, but it does not refuse one that has already written, for example
 * with PEXPIREAT.
 *
 * The key of a session is a text: revision, life, end and last renewal of topics, then the sealed record. One key for an idle session
 * takes much less memory than a hash.
 */
export const SESSION = `${NOW}
local sessionKey, callsKey, streamsKey, standingKey, standingLogKey, dirtyKey, streamKey, logKey = unpack(KEYS)
local function head(text)
  local revision, life, ends, renewed, at = string.match(text, '^(%d+) (%d+) (%d+) (%d+) ()')
  return { revision = tonumber(revision), life = tonumber(life), ends = tonumber(ends), renewed = tonumber(renewed), at = at }
end
-- Nothing uses a session after its largest age.
local function readSession()
  local text = redis.call('GET', sessionKey)
  return text and head(text).ends > now() and text
end
local function sessionText(session, record)
  return whole(session.revision) .. ' ' .. whole(session.life) .. ' ' .. whole(session.ends) .. ' ' .. whole(session.renewed) .. ' ' .. record
end
local function touch(text, ...)
  local time = now()
  local session = head(text)
  -- It also tells the last use, so the largest age does not shorten it.
  redis.call('PEXPIREAT', sessionKey, whole(time + session.life))
  local expiry = whole(math.min(time + session.life, session.ends))
  for _, key in ipairs({ callsKey, streamsKey, standingKey, standingLogKey, dirtyKey, ... }) do
    redis.call('PEXPIREAT', key, expiry)
  end
end
`

/** Removes a session with everything that belongs to it. */
export const REMOVE = `
local function removeSession(streamStart, logStart)
  for _, name in ipairs(redis.call('ZRANGE', streamsKey, 0, -1)) do redis.call('DEL', streamStart .. name, logStart .. name) end
  redis.call('DEL', sessionKey, callsKey, streamsKey, standingKey, standingLogKey, dirtyKey)
end
`

/** A request in progress: the replica that runs it, the attempt that registered it, and the letter c if its client has cancelled it. */
export const CALLS = `
local function readCall(text)
  if not text then return nil, nil, false end
  local runner, attempt, mark = string.match(text, '^(%S+) (%S*) ?(%S*)$')
  return runner, attempt, mark == 'c'
end
local function callText(runner, attempt, cancelled) return runner .. ' ' .. attempt .. (cancelled and ' c' or '') end
`

/**
 * A log is a list, because a stream of Redis takes 4 kB for its first entry. Entries are numbered from 1 without gaps, and \`count\` of the
 * stream is the number of the last. A position is the time and the number of an entry: a number that is given again after a failover has
 * another time. An entry is its position, a space, 'e' for an event or 'f' for a fence, and the payload.
 */
export const LOG = `
local function numberOf(position)
  if not position then return 0 end
  local number = #position < 32 and string.match(position, '^%d+%-(%d+)$')
  -- Redis takes no larger numbers.
  return number and #number <= 15 and tonumber(number)
end
local function firstIn(log, count) return tonumber(count or '0') - redis.call('LLEN', log) + 1 end
`

/** Reads events of the stream after a position, and records the last event that the reader got. */
export const READ = `${SESSION}${LOG}
-- How many entries to skip; nil if the position is not known.
local function skipTo(stream, after)
  local first = firstIn(logKey, stream.count)
  if after == '' then return first == 1 and 0 or nil end
  if after == stream.dropped then return 0 end
  local number = numberOf(after)
  if not number or number < first then return nil end
  local entry = redis.call('LINDEX', logKey, number - first)
  if not entry or string.sub(entry, 1, #after + 1) ~= after .. ' ' then return nil end
  return number - first + 1
end
-- The entries that readers were given.
local function skipGiven(stream)
  return math.max(0, numberOf(stream.given) - firstIn(logKey, stream.count) + 1)
end
local function readEvents(text, stream, skip, limit)
  local events, last, isAll = {}, nil, false
  -- Fences are no events. After a page of fences the next page is read.
  repeat
    local found = redis.call('LRANGE', logKey, skip, skip + limit)
    isAll = #found <= limit
    for _, entry in ipairs(found) do
      local space = string.find(entry, ' ', 1, true)
      local position = string.sub(entry, 1, space - 1)
      if string.sub(entry, space + 1, space + 1) == 'e' then
        if #events == 2 * limit then
          isAll = false
          break
        end
        events[#events + 1] = position
        events[#events + 1] = string.sub(entry, space + 2)
      end
      last = position
      skip = skip + 1
    end
  until isAll or #events == 2 * limit
  if last and numberOf(stream.given) < numberOf(last) then redis.call('HSET', streamKey, 'given', last) end
  -- No other stream has changes that wait for a client.
  if isAll and streamKey == standingKey then redis.call('DEL', dirtyKey) end
  -- A stream that has ended has an end of its own.
  if stream.over then touch(text) else touch(text, streamKey, logKey) end
  return events, (isAll and stream.over and 1 or 0)
end
`
