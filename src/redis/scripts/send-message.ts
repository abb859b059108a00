/** Puts a message into the inbox of a replica that lives. */

import { script } from './script.ts'

/**
 * KEYS: lease, inbox. ARGV: message, most messages, most bytes. A message that does not fit is counted and not kept, so that the replica
 * sees that it missed one.
 */
export const sendMessage = script(
  'send-message',
  `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local number = redis.call('HINCRBY', KEYS[1], 'messages', 1)
local bytes = redis.call('HMGET', KEYS[1], 'bytes', 'read')
local unread = tonumber(bytes[1] or '0') - tonumber(bytes[2] or '0')
if unread > 0 and unread + #ARGV[1] > tonumber(ARGV[3]) then return 1 end
redis.call('HINCRBY', KEYS[1], 'bytes', #ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', 'n', number, 'm', ARGV[1])
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return 1`,
)
