/** Counts the members of a topic. */

import { NOW, script } from './script.ts'

/** KEYS: topic. Removes what has expired. */
export const countMembers = script(
  'count-members',
  `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now()))
return redis.call('ZCARD', KEYS[1])`,
)
