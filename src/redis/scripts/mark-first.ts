/** Sets a mark unless it is set already. */

import { script } from './script.ts'

/** KEYS: mark. ARGV: token, life. Returns 1 for the caller that set it, also if the script is sent again. */
export const markFirst = script(
  'mark-first',
  `local mark = redis.call('GET', KEYS[1])
if mark then return mark == ARGV[1] and 1 or 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
)
