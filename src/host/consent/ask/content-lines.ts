/** Renders content blocks with all their members. Binary data is folded to its size. */

import type { ContentBlock } from '../../../protocol/model/content.ts'
import type { CreateMessageParams, SamplingContent } from '../../../protocol/model/sampling.ts'
import { line, nameText, type QuestionLine, theirs, valueLine } from './question-line.ts'

/** @param isWhole show binary data too, in base64 */
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
      return [...theirs(`${label}, from`, uri), dataLine(label, 'binary', blob, isWhole), ...restLines(label, { ...others, ...rest })]
    }
    case 'tool_result': {
      const { type: _type, toolUseId, content: blocks, ...rest } = content
      return [
        ...theirs(label, `result of ${toolUseId}`),
        ...blocks.flatMap((each) => contentLines(`${label}, tool result`, each, isWhole)),
        ...restLines(label, rest),
      ]
    }
    default:
      return [valueLine(label, content)]
  }
}

export const contentsOf = <T>(content: T | readonly T[]): readonly T[] => (Array.isArray(content) ? content : [content as T])

/** Everything in a sampling request. */
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

/** The other members of a block or a result, such as `_meta`: a server can write anything into them. */
export function restLines(label: string, rest: object): QuestionLine[] {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined)
  return given.length === 0 ? [] : [valueLine(`${label}, other members`, Object.fromEntries(given))]
}

function dataLine(label: string, what: string, data: string, isWhole: boolean): QuestionLine {
  if (isWhole) return line(label, `${what}, in base64:\n${data}`, 'theirs')
  const bytes = Math.floor((data.length * 3) / 4)
  return { ...line(label, `${what}, ${bytes} bytes (${data.length} characters of base64 not shown)`, 'theirs'), folded: data.length }
}
