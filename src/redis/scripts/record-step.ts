/** Records a value for a later run of the same request, unless the stream was taken over. */

import { script } from './script.ts'

/** KEYS: stream. ARGV: replica, epoch, field, value. Returns 1 if it was recorded, -1 if the stream is gone. */
export const recordStep = script(
  'record-step',
  `local kept = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'over')
if not kept[1] then return -1 end
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] or kept[3] then return 0 end
redis.call('HSET', KEYS[1], 'j:' .. ARGV[3], ARGV[4])
return 1`,
)
