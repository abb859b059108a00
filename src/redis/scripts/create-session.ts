/** Creates a session. */

import { SESSION, script } from './script.ts'

/** KEYS: session. ARGV: record, life, largest age. */
export const createSession = script(
  'create-session',
  `${SESSION}
local time = now()
local session = { revision = 1, life = tonumber(ARGV[2]), ends = time + tonumber(ARGV[3]), renewed = time }
redis.call('SET', sessionKey, sessionText(session, ARGV[1]), 'PX', ARGV[2])
return 1`,
)
