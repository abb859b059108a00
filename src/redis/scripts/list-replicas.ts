/** The directory of replicas: those that have their lease, and those that do not. */

import { NOW, script } from './script.ts'

/** KEYS: directory. Returns the replicas that live, then the others. */
export const listReplicas = script(
  'list-replicas',
  `${NOW}
local time = whole(now())
return { redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. time, '+inf'), redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time, 'LIMIT', 0, 100) }`,
)
