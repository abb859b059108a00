/** The person in place of a model: they see the request, and write the answer. */

import { randomUUID } from 'node:crypto'
import { isObject } from '../../base/json.ts'
import { Declined, McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams } from '../../protocol/model/sampling.ts'
import type { Asker, Question } from '../model/question.ts'
import type { Model, ModelRequest } from './language-model.ts'

export interface PersonOptions {
  asker: Asker
  /** The server and the principal that the question is about. */
  about: Pick<Question, 'principal' | 'run' | 'server' | 'chain'>
  /** How long the question waits for the person. */
  answerMs?: number
  /** The wall clock in milliseconds. Default: `Date.now`. */
  now?(): number
}

const DEFAULT_ANSWER_MS = 10 * 60_000
const DEFAULT_MAX_TOKENS = 4096

/** Throws `Declined` if the person declines. The answer is one text: a person calls no tools. */
export function personModel({ asker, about, answerMs = DEFAULT_ANSWER_MS, now = Date.now }: PersonOptions): Model {
  return {
    id: 'person',
    label: 'no language model: a person answers',
    isPerson: true,
    async *stream(request, signal) {
      const askedAt = now()
      const answer = await asker.ask(
        {
          ...about,
          id: randomUUID(),
          action: 'sampling.create',
          askedAt,
          expiresAt: askedAt + answerMs,
          reasons: ['No model is configured'],
          subject: { kind: 'compose', params: paramsOf(request) },
          scopes: ['once'],
          widths: ['exact'],
        },
        signal,
      )
      if (answer.kind !== 'allow') throw new Declined('The person did not answer in place of a model')
      const text = textOf(answer.edited)
      if (text === undefined) throw new McpError('ERR_MODEL', 'The person agreed to answer in place of a model, but the answer is empty')
      if (text !== '') yield { type: 'text', text }
      yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }
    },
  }
}

const paramsOf = ({ system, messages, maxTokens, temperature, stopSequences, toolChoice, tools }: ModelRequest): CreateMessageParams => ({
  // A question shows files as well, although servers cannot send them.
  messages: [...messages] as CreateMessageParams['messages'],
  maxTokens: maxTokens ?? DEFAULT_MAX_TOKENS,
  ...(system === undefined ? {} : { systemPrompt: system }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
  ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ ...tool })) }),
  ...(toolChoice === undefined ? {} : { toolChoice }),
})

/** Accepts text, a text block, or a message that contains one. */
function textOf(edited: unknown): string | undefined {
  if (typeof edited === 'string') return edited
  if (!isObject(edited)) return undefined
  if (typeof edited.text === 'string') return edited.text
  const { content } = edited
  return textOf(Array.isArray(content) ? content[0] : content)
}
