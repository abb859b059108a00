/** The answers of a stream, for its owner. Keeps the session and the stream from expiring. */

import { SESSION, script } from './script.ts'

/** KEYS: what lasts, stream, log. ARGV: replica, epoch or '' for the standing stream. Returns questions and answers. */
export const readAnswers = script(
  'read-answers',
  `${SESSION}
local text = readSession()
if not text then return 'gone' end
local kept = redis.call('HMGET', streamKey, 'owner', 'epoch', 'over', 'answers')
if ARGV[2] ~= '' then
  if not kept[1] then return 'gone' end
  if kept[3] or kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] then return 'fenced' end
end
touch(text, streamKey, logKey)
if not kept[4] or kept[4] == '0' then return {} end
local answers = {}
local all = redis.call('HGETALL', streamKey)
for at = 1, #all, 2 do
  if string.sub(all[at], 1, 2) == 'a:' then
    answers[#answers + 1] = string.sub(all[at], 3)
    answers[#answers + 1] = all[at + 1]
  end
end
return answers`,
)
