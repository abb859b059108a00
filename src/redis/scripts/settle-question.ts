/** Forgets a question and its answer. */

import { script } from './script.ts'

/** KEYS: stream. ARGV: question. */
export const settleQuestion = script(
  'settle-question',
  `redis.call('HDEL', KEYS[1], 'q:' .. ARGV[1])
if redis.call('HDEL', KEYS[1], 'a:' .. ARGV[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'answers', -1) end
return 1`,
)
