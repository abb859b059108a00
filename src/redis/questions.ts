/** Questions, answers and recorded steps of streams in Redis. */

import type { AnswerOutcome, StreamLogs } from '../store/stream-logs.ts'
import { type RedisContext, textOf } from './context.ts'
import { fieldOfStep, stepText } from './journal-entry.ts'
import type { RedisReplica } from './replica.ts'
import { answerQuestion } from './scripts/answer-question.ts'
import { readAnswers } from './scripts/read-answers.ts'
import { recordStep } from './scripts/record-step.ts'
import { settleQuestion } from './scripts/settle-question.ts'
import { placeOf } from './stream-place.ts'

export function redisQuestions(
  { connection, keys, values }: RedisContext,
  own: RedisReplica,
): Pick<StreamLogs, 'answer' | 'answers' | 'settle' | 'record'> {
  return {
    answer: async (sid, stream, question, json) => {
      const { session, stream: start } = keys.session(sid)
      const args = [question, await values.seal(json, placeOf('answer', sid, stream, question))]
      const reply = await connection.run(answerQuestion, [session, start + stream], args)
      const [outcome, asker] = (reply as [Buffer, Buffer]).map(textOf) as [AnswerOutcome, string]
      if (outcome === 'accepted') own.hint(asker, { kind: 'answered', sid, stream, question, json })
      return outcome
    },
    answers: async (sid, stream, epoch) => {
      const { lasting, stream: start, log } = keys.session(sid)
      const reply = await connection.run(readAnswers, [...lasting, start + stream, log + stream], [own.id, epoch ?? ''])
      if (!Array.isArray(reply)) {
        const outcome = textOf(reply) as 'gone' | 'fenced'
        if (outcome === 'gone') own.forgetRun(sid, stream)
        return outcome
      }
      const answers: [string, string][] = []
      for (let at = 0; at < reply.length; at += 2) {
        const question = textOf(reply[at])
        answers.push([question, await values.open(reply[at + 1] as Buffer, placeOf('answer', sid, stream, question))])
      }
      return Object.fromEntries(answers)
    },
    settle: async (sid, stream, question) => {
      await connection.run(settleQuestion, [keys.session(sid).stream + stream], [question])
    },
    record: async (sid, stream, epoch, name, json) => {
      const field = fieldOfStep(name)
      const args = [own.id, epoch, field, await values.seal(stepText(name, json), placeOf('step', sid, stream, field))]
      const recorded = await connection.run(recordStep, [keys.session(sid).stream + stream], args)
      if (recorded === -1) own.forgetRun(sid, stream)
      return recorded === 1
    },
  }
}
