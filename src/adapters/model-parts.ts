/** What a model sees of the result of a call: text and pictures. */

import { blockText } from '../host/language-models/block-text.ts'
import { isPicture } from '../host/language-models/image-types.ts'
import type { ToolOutput } from './tool-list.ts'

export type ModelPart = { type: 'text'; text: string } | { type: 'picture' /** Base64. */; data: string; mediaType: string }

/** Pictures that models understand stay pictures; everything else becomes text, because a provider refuses a request with other media. */
export function modelParts({ content, structuredContent, isError }: ToolOutput): ModelPart[] {
  if (content.length === 0 && structuredContent !== undefined) return [{ type: 'text', text: JSON.stringify(structuredContent) }]
  return content.map((block) =>
    block.type === 'image' && isPicture(block.mimeType) && !isError
      ? { type: 'picture', data: block.data, mediaType: block.mimeType }
      : { type: 'text', text: blockText(block) },
  )
}

/** The text of the parts, or undefined if there are pictures among them. */
export function textOnly(parts: readonly ModelPart[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === parts.length ? texts.join('\n') : undefined
}
