/** Sets the end of a task's lease, if it is still this lease. */

import { script } from './script.ts'

/** KEYS: task. ARGV: lease, end of the lease. Returns the end of the task, or nothing if the lease is over. */
export const renewTask = script(
  'renew-task',
  `local kept = redis.call('HMGET', KEYS[1], 'lease', 'expiry')
if kept[1] ~= ARGV[1] then return false end
redis.call('HSET', KEYS[1], 'until', ARGV[2])
return kept[2]`,
)
