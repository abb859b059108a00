/** The reader has gone, unless another one has attached. */

import { script } from './script.ts'

/** KEYS: stream. ARGV: number of the reader. */
export const detachReader = script(
  'detach-reader',
  `if redis.call('HGET', KEYS[1], 'number') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'reader', 'number')`,
)
