/** Replaces a task, if its edition is the one before. */

import { script } from './script.ts'

/** KEYS: task. ARGV: edition, record, head, lease (empty if the task has ended), end of the lease. The end of the same lease stays. */
export const replaceTask = script(
  'replace-task',
  `local kept = redis.call('HMGET', KEYS[1], 'edition', 'lease')
if not kept[1] then return 0 end
-- This change was made, and sent again after a lost connection.
if kept[1] == ARGV[1] and redis.call('HGET', KEYS[1], 'record') == ARGV[2] then return 1 end
if tonumber(kept[1]) ~= tonumber(ARGV[1]) - 1 then return 0 end
redis.call('HSET', KEYS[1], 'edition', ARGV[1], 'record', ARGV[2], 'head', ARGV[3])
if kept[2] ~= ARGV[4] then redis.call('HSET', KEYS[1], 'lease', ARGV[4], 'until', ARGV[5]) end
return 1`,
)
