/** Replaces a task, if its edition is the one before. */

import { script } from './script.ts'

/** The reply of a task that was replaced. */
export const REPLACED = -1

/**
 * KEYS: task. ARGV: edition, record, head, lease (empty if the task has ended), end of the lease. The end of the same lease stays. Returns
 * REPLACED, or the bytes of the task that Redis has.
 */
export const replaceTask = script(
  'replace-task',
  `local kept = redis.call('HMGET', KEYS[1], 'edition', 'lease')
-- This change was made, and sent again after a lost connection.
if kept[1] == ARGV[1] and redis.call('HGET', KEYS[1], 'record') == ARGV[2] then return -1 end
if not kept[1] or tonumber(kept[1]) ~= tonumber(ARGV[1]) - 1 then
  return redis.call('HSTRLEN', KEYS[1], 'record') + redis.call('HSTRLEN', KEYS[1], 'head')
end
redis.call('HSET', KEYS[1], 'edition', ARGV[1], 'record', ARGV[2], 'head', ARGV[3])
if kept[2] ~= ARGV[4] then redis.call('HSET', KEYS[1], 'lease', ARGV[4], 'until', ARGV[5]) end
return -1`,
)
