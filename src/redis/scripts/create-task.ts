/** Adds a task of one owner. */

import { script } from './script.ts'

/** KEYS: task, tasks of the owner. ARGV: edition, record, head, lease, end of the lease, end of the task, score, id, life. */
export const createTask = script(
  'create-task',
  `redis.call('HSET', KEYS[1], 'edition', ARGV[1], 'record', ARGV[2], 'head', ARGV[3], 'lease', ARGV[4], 'until', ARGV[5], 'expiry', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[9])
redis.call('ZADD', KEYS[2], ARGV[7], ARGV[8])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[9]) then redis.call('PEXPIRE', KEYS[2], ARGV[9]) end
return 1`,
)
