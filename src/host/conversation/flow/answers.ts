/** How each type of answer is inspected and cut to size. */

import { asText } from '../../../base/as-text.ts'
import { isObject } from '../../../base/json.ts'
import type { Completion } from '../../../protocol/model/completion.ts'
import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { GetPromptResult, PromptMessage } from '../../../protocol/model/prompts.ts'
import type { ReadResourceResult, ResourceContents } from '../../../protocol/model/resources.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { capResult } from './cap-result.ts'

export interface AnswerShape<T> {
  /** The answer as a tool result, so that all answers are inspected and shown in the same way. */
  view(answer: T): CallToolResult
  /** Cuts the answer to `maxBytes` as JSON, with a note where something is missing. */
  cap(answer: T, maxBytes: number): T
}

export const TOOL_RESULT: AnswerShape<CallToolResult> = {
  view: (result) => result,
  cap: (result, maxBytes) => capResult(result, { maxBytes }),
}

export const READ_RESULT: AnswerShape<ReadResourceResult> = {
  view: ({ contents, ...rest }) => ({ ...rest, content: contents.map(embedded) }),
  cap: ({ contents, ...rest }, maxBytes) => {
    const { content, ...others } = capResult({ ...rest, content: contents.map(embedded) }, { maxBytes })
    const uri = contents.find(isObject)?.uri ?? ''
    return { ...others, contents: content.map((block) => contentsOf(block, asText(uri))) }
  },
}

const embedded = (resource: ResourceContents): ContentBlock => ({ type: 'resource', resource })

/** The note becomes one more content of the same resource. */
const contentsOf = (block: ContentBlock, uri: string): ResourceContents =>
  block.type === 'resource' ? block.resource : { uri, mimeType: 'text/plain', text: block.type === 'text' ? block.text : '' }

export const PROMPT_RESULT: AnswerShape<GetPromptResult> = {
  view: ({ description, messages, ...rest }) => ({ ...rest, content: blocksOf(description, messages) }),
  cap: ({ description, messages, ...rest }, maxBytes) => {
    const { content, ...others } = capResult({ ...rest, content: blocksOf(description, messages) }, { maxBytes })
    const spoken = messages.filter(isMessage)
    const first = description === undefined ? undefined : content[0]
    const following = content.slice(description === undefined ? 0 : 1)
    return {
      ...others,
      ...(first?.type === 'text' && { description: first.text }),
      // Blocks keep their order: the note is at the place of the first missing block, or after it.
      messages: following.map((block, at): PromptMessage => ({ role: spoken[at]?.role ?? 'user', content: block })),
    }
  },
}

const isMessage = (message: PromptMessage): boolean => isObject(message) && isObject(message.content)

const blocksOf = (description: string | undefined, messages: readonly PromptMessage[]): ContentBlock[] => [
  ...(description === undefined ? [] : [{ type: 'text', text: asText(description) } as const]),
  ...messages.filter(isMessage).map(({ content }) => content),
]

export const COMPLETION: AnswerShape<Completion> = {
  view: ({ values }) => ({ content: values.map((text) => ({ type: 'text', text: asText(text) })) }),
  cap: ({ values, ...rest }, maxBytes) => {
    let left = maxBytes
    // A shortened suggestion would be a different one, so whole suggestions are left out.
    const kept = values.filter((value) => {
      left -= Buffer.byteLength(JSON.stringify(value))
      return left >= 0
    })
    return { ...rest, values: kept, ...(kept.length < values.length && { hasMore: true }) }
  },
}
