/** The person as the model: shown what a model would have been asked, they write what it would have said. */

import { randomUUID } from 'node:crypto'
import { isObject } from '../../base/json.ts'
import { Declined, McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams } from '../../protocol/model/sampling.ts'
import type { Asker, Question } from '../model/question.ts'
import type { Model, ModelRequest } from './model.ts'

export interface PersonOptions {
  asker: Asker
  /** Whose question it is, and on whose behalf it is asked. */
  about: Pick<Question, 'principal' | 'run' | 'server' | 'chain'>
  /** How long the person has. */
  answerMs?: number
  /** Milliseconds of the wall clock. */
  now?(): number
}

const DEFAULT_ANSWER_MS = 10 * 60_000
const DEFAULT_MAX_TOKENS = 4096

/** Throws `Declined` when the person would rather not. What they write is one text: a person calls no tools. */
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
          reasons: ['There is no model to ask'],
          subject: { kind: 'compose', params: paramsOf(request) },
          scopes: ['once'],
          widths: ['exact'],
        },
        signal,
      )
      if (answer.kind !== 'allow') throw new Declined('The person did not answer in place of a model')
      const text = textOf(answer.edited)
      if (text === undefined) throw new McpError('ERR_MODEL', 'The person agreed to answer in place of a model and wrote nothing')
      if (text !== '') yield { type: 'text', text }
      yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } }
    },
  }
}

const paramsOf = ({ system, messages, maxTokens, temperature, stopSequences, toolChoice, tools }: ModelRequest): CreateMessageParams => ({
  messages: [...messages],
  maxTokens: maxTokens ?? DEFAULT_MAX_TOKENS,
  ...(system === undefined ? {} : { systemPrompt: system }),
  ...(temperature === undefined ? {} : { temperature }),
  ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
  ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ ...tool })) }),
  ...(toolChoice === undefined ? {} : { toolChoice }),
})

/** The text itself, a text block, or a message that holds one. */
function textOf(edited: unknown): string | undefined {
  if (typeof edited === 'string') return edited
  if (!isObject(edited)) return undefined
  if (typeof edited.text === 'string') return edited.text
  const { content } = edited
  return textOf(Array.isArray(content) ? content[0] : content)
}
