/** Models that say what a test tells them to, step by step. */

import type { Model, ModelPart, ModelRequest } from '../../../../src/host/language-models/language-model.ts'

export interface CannedModel extends Model {
  asked: ModelRequest[]
}

export const text = (words: string): ModelPart => ({ type: 'text', text: words })
export const call = (id: string, name: string, args: Record<string, unknown> = {}): ModelPart => ({ type: 'tool-call', id, name, args })
export const end = (reason: Extract<ModelPart, { type: 'end' }>['reason'] = 'endTurn', inputTokens = 10, outputTokens = 5): ModelPart => ({
  type: 'end',
  reason,
  usage: { inputTokens, outputTokens },
})

/** Each list is one answer; an `end` is added to those that have none. */
export function cannedModel(...answers: (ModelPart | Error)[][]): CannedModel {
  const asked: ModelRequest[] = []
  return {
    id: 'canned',
    label: 'canned',
    asked,
    async *stream(request) {
      // As it was then: the conversation goes on.
      asked.push(structuredClone(request))
      const parts = answers.shift() ?? [text('Nothing more to say')]
      for (const part of parts) {
        if (part instanceof Error) throw part
        yield part
      }
      if (!parts.some((part) => !(part instanceof Error) && part.type === 'end'))
        yield end(parts.some((part) => !(part instanceof Error) && part.type === 'tool-call') ? 'toolUse' : 'endTurn')
    },
  }
}
