/** Removes a session. */

import { REMOVE, SESSION, script } from './script.ts'

/** KEYS: what lasts. ARGV: start of the names of streams, of logs. Returns whether there was one. */
export const endSession = script(
  'end-session',
  `${SESSION}${REMOVE}
local text = readSession()
removeSession(ARGV[1], ARGV[2])
return text and 1 or 0`,
)
