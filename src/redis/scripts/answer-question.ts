/** Moves a question from open to answered, once. */

import { script } from './script.ts'

/** KEYS: session, stream. ARGV: question, answer. Returns the replica that asks. */
export const answerQuestion = script(
  'answer-question',
  `if redis.call('EXISTS', KEYS[1]) == 0 then return { 'unknown', '' } end
local kept = redis.call('HMGET', KEYS[2], 'q:' .. ARGV[1], 'owner', 'over')
if redis.call('HEXISTS', KEYS[2], 'a:' .. ARGV[1]) == 1 then return { 'duplicate', '' } end
if not kept[1] or kept[3] then return { 'unknown', '' } end
redis.call('HDEL', KEYS[2], 'q:' .. ARGV[1])
redis.call('HSET', KEYS[2], 'a:' .. ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[2], 'answers', 1)
if kept[1] ~= '' then return { 'accepted', kept[1] } end
return { 'accepted', kept[2] }`,
)
