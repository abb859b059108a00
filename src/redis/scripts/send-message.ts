/** Puts a message into the inbox of a replica that lives. */

import { script } from './script.ts'

/** KEYS: lease, inbox. ARGV: message, most messages. */
export const sendMessage = script(
  'send-message',
  `if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local number = redis.call('HINCRBY', KEYS[1], 'messages', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', 'n', number, 'm', ARGV[1])
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
return 1`,
)
