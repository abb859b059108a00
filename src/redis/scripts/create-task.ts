/** Adds a task of one owner. */

import { script } from './script.ts'

/** KEYS: task, tasks of the owner. ARGV: edition, record, score, id, life. */
export const createTask = script(
  'create-task',
  `redis.call('HSET', KEYS[1], 'edition', ARGV[1], 'record', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[4])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
return 1`,
)
