/** Replaces a task, if its edition is the one before. */

import { script } from './script.ts'

/** KEYS: task. ARGV: edition, record. */
export const replaceTask = script(
  'replace-task',
  `local kept = redis.call('HMGET', KEYS[1], 'edition', 'record')
if not kept[1] then return 0 end
-- This change was made, and sent again after a lost connection.
if kept[1] == ARGV[1] and kept[2] == ARGV[2] then return 1 end
if tonumber(kept[1]) ~= tonumber(ARGV[1]) - 1 then return 0 end
redis.call('HSET', KEYS[1], 'edition', ARGV[1], 'record', ARGV[2])
return 1`,
)
