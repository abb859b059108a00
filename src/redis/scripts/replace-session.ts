/** Replaces the record of a session if it has not changed. */

import { SESSION, script } from './script.ts'

/** KEYS: session. ARGV: record, revision that it replaces. */
export const replaceSession = script(
  'replace-session',
  `${SESSION}
local text = readSession()
if not text then return 0 end
local session = head(text)
-- This change was made, and sent again after a lost connection.
if session.revision == tonumber(ARGV[2]) + 1 and string.sub(text, session.at) == ARGV[1] then return 1 end
if session.revision ~= tonumber(ARGV[2]) then return 0 end
session.revision = session.revision + 1
redis.call('SET', sessionKey, sessionText(session, ARGV[1]), 'KEEPTTL')
return 1`,
)
