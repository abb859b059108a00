/** Takes or renews the lease of a replica. A lease that has ended cannot be renewed. */

import { script } from './script.ts'

/**
 * KEYS: lease, inbox, runs. ARGV: lease, life of what others need after a death, last message read, '1' to take the lease, bytes read.
 * Returns 0 if the lease has ended; otherwise a list with the number of messages that were sent, or -1 while some are unread.
 */
export const renewLease = script(
  'renew-lease',
  `if ARGV[4] == '1' then redis.call('HSET', KEYS[1], 'messages', 0, 'bytes', 0, 'read', 0)
elseif redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[3])
local read = ARGV[5]
-- Messages that were dropped unread count no longer when there is nothing left to read.
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
local sent = -1
if #last == 0 or last[1][1] == ARGV[3] then
  read = redis.call('HGET', KEYS[1], 'bytes') or 0
  sent = tonumber(redis.call('HGET', KEYS[1], 'messages') or '0')
end
redis.call('HSET', KEYS[1], 'read', read)
redis.call('PEXPIRE', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[3], ARGV[2])
return { sent }`,
)
