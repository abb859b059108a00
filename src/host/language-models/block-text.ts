/** Blocks of tool results as text for a model. */

import { asText } from '../../base/as-text.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'

/** The text of a block. Media have none, so the text names their type. */
export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `(${block.mimeType}, not shown)`
    case 'resource_link':
      return `${block.name}: ${block.uri}`
    case 'resource':
      return 'text' in block.resource ? asText(block.resource.text) : `(binary content of ${block.resource.uri})`
  }
}
