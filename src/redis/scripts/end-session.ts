/** Removes a session with everything that belongs to it. */

import { script } from './script.ts'

/** KEYS: session, calls, streams, dirty. ARGV: start of the names of streams, of logs; the standing stream. */
export const endSession = script(
  'end-session',
  `local names = redis.call('ZRANGE', KEYS[3], 0, -1)
names[#names + 1] = ARGV[3]
for _, name in ipairs(names) do redis.call('DEL', ARGV[1] .. name, ARGV[2] .. name) end
local existed = redis.call('DEL', KEYS[1])
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
return existed`,
)
