/** Claims a replica whose lease has ended, for one other replica. */

import { script } from './script.ts'

/** KEYS: lease, claim, runs, inbox. ARGV: replica that claims, length of the claim, most streams. */
export const claimReplica = script(
  'claim-replica',
  `if redis.call('EXISTS', KEYS[1]) == 1 then return 'alive' end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then return 'claimed' end
local runs = redis.call('SRANDMEMBER', KEYS[3], ARGV[3])
if #runs == 0 then
  redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
  return 'empty'
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return runs`,
)
