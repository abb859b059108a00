/** Records a value for a later run of the same request, unless the stream was taken over. */

import { script } from './script.ts'

/** KEYS: stream. ARGV: replica, epoch, name, value. */
export const recordStep = script(
  'record-step',
  `local kept = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'over')
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] or kept[3] then return 0 end
redis.call('HSET', KEYS[1], 'j:' .. ARGV[3], ARGV[4])
return 1`,
)
