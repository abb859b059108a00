/** The directory of replicas: registers one, and lists those that were seen lately and those that were not. */

import { NOW, script } from './script.ts'

/** KEYS: directory. ARGV: replica to register or '', lease, life of the directory. Returns those seen lately, then the others. */
export const listReplicas = script(
  'list-replicas',
  `${NOW}
local time = now()
if ARGV[1] ~= '' then
  redis.call('ZADD', KEYS[1], whole(time), ARGV[1])
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
end
local since = whole(time - tonumber(ARGV[2]))
return { redis.call('ZRANGEBYSCORE', KEYS[1], since, '+inf'), redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. since, 'LIMIT', 0, 100) }`,
)
