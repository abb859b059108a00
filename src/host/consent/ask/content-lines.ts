/** Blocks of content as a person reads them: every member of them, with long data folded to its size. */

import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { CreateMessageParams, SamplingContent } from '../../../protocol/model/sampling.ts'
import { nameText, type QuestionLine, theirs, valueLine } from './question-line.ts'

/** @param isWhole data is shown as well, in base64 */
export function contentLines(label: string, content: ContentBlock | SamplingContent, isWhole: boolean): QuestionLine[] {
  switch (content.type) {
    case 'text': {
      const { type: _type, text, ...rest } = content
      return [...theirs(label, text), ...restLines(label, rest)]
    }
    case 'image':
    case 'audio': {
      const { type, data, mimeType, ...rest } = content
      return [dataLine(label, `${type} ${mimeType}`, data, isWhole), ...restLines(label, rest)]
    }
    case 'resource': {
      const { type: _type, resource, ...rest } = content
      const { uri, ...about } = resource
      if ('text' in about) {
        const { text, ...others } = about
        return [...theirs(`${label}, from`, uri), ...theirs(label, text), ...restLines(label, { ...others, ...rest })]
      }
      const { blob, ...others } = about
      return [...theirs(`${label}, from`, uri), dataLine(label, 'not a text', blob, isWhole), ...restLines(label, { ...others, ...rest })]
    }
    case 'tool_result': {
      const { type: _type, toolUseId, content: blocks, ...rest } = content
      return [
        ...theirs(label, `result of ${toolUseId}`),
        ...blocks.flatMap((each) => contentLines(`${label}, in the result`, each, isWhole)),
        ...restLines(label, rest),
      ]
    }
    default:
      return [valueLine(label, content)]
  }
}

export const contentsOf = <T>(content: T | readonly T[]): readonly T[] => (Array.isArray(content) ? content : [content as T])

/** Everything that a server sends to a model. */
export function samplingLines(params: CreateMessageParams, isWhole: boolean): QuestionLine[] {
  const { messages, systemPrompt, tools, ...settings } = params
  return [
    ...theirs('system prompt', systemPrompt),
    ...messages.flatMap(({ role, content, ...rest }) => [
      ...contentsOf(content).flatMap((each) => contentLines(nameText(role), each, isWhole)),
      ...restLines(nameText(role), rest),
    ]),
    ...(tools ?? []).map((tool) => valueLine(`tool ${nameText(tool.name)}`, tool)),
    ...Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [valueLine(nameText(name), value)])),
  ]
}

/** Members beside the text: hints for programs, which a server may write anything into. */
export function restLines(label: string, rest: object): QuestionLine[] {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return given.length === 0 ? [] : [valueLine(`${label}, with`, Object.fromEntries(given))]
}

function dataLine(label: string, what: string, data: string, isWhole: boolean): QuestionLine {
  if (isWhole) return { label, text: `${what}, in base64:\n${data}`, tone: 'theirs' }
  const bytes = Math.floor((data.length * 3) / 4)
  return { label, text: `${what}, ${bytes} bytes: ${data.length} characters of base64 are folded`, tone: 'theirs', folded: data.length }
}
