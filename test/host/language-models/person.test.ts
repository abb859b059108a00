import { expect, test } from 'vitest'
import type { ModelPart } from '../../../src/host/language-models/language-model.ts'
import { personModel } from '../../../src/host/language-models/person-as-model.ts'
import type { Answer, Question } from '../../../src/host/model/question.ts'
import { Declined } from '../../../src/protocol/errors.ts'

const about = { principal: 'me', run: 'r', server: { id: 'notes', title: 'Notes', where: 'node notes.js' }, chain: ['server notes'] }
const request = { system: 'Be brief', messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'hi' } }], maxTokens: 50 }

async function asked(answer: Answer): Promise<{ question: Question | undefined; parts: ModelPart[] }> {
  let question: Question | undefined
  const asker = {
    ask: async (put: Question) => {
      question = put
      return answer
    },
  }
  const parts: ModelPart[] = []
  for await (const part of personModel({ asker, about, now: () => 1000, answerMs: 5 }).stream(request, new AbortController().signal))
    parts.push(part)
  return { question, parts }
}

test('the person sees the whole request and its sender, and writes the answer', async () => {
  const { question, parts } = await asked({ kind: 'allow', scope: 'once', edited: 'Hello!' })
  expect(question).toMatchObject({
    ...about,
    action: 'sampling.create',
    askedAt: 1000,
    expiresAt: 1005,
    subject: { kind: 'compose', params: { systemPrompt: 'Be brief', messages: request.messages, maxTokens: 50 } },
  })
  expect(parts).toEqual([
    { type: 'text', text: 'Hello!' },
    { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } },
  ])
})

test('the person can answer with a message or a text', async () => {
  const content = { type: 'text', text: 'Hello!' }
  for (const edited of [content, { content }, { role: 'assistant', content: [content], model: 'me' }])
    expect((await asked({ kind: 'allow', scope: 'once', edited })).parts[0]).toEqual({ type: 'text', text: 'Hello!' })
})

test('a person can deny the request, and an empty text is not an answer', async () => {
  await expect(asked({ kind: 'deny' })).rejects.toBeInstanceOf(Declined)
  await expect(asked({ kind: 'cancel' })).rejects.toBeInstanceOf(Declined)
  await expect(asked({ kind: 'allow', scope: 'once' })).rejects.toMatchObject({ code: 'ERR_MODEL' })
})
