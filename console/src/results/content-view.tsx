/** The parts of a result or a message, each as what it is. Parts of unknown kinds are shown as data. */

import type { ReactNode } from 'react'
import type { ContentBlock } from '../../../src/client/index.ts'
import { JsonTree } from '../components/json-tree.tsx'
import { FirstParts } from './first-parts.tsx'
import { MediaView } from './media-view.tsx'
import { ResourceContentsView, ResourceLinkView } from './resource-view.tsx'
import css from './results.module.css'
import { TextView } from './text-view.tsx'

/** @param name of the tool or prompt, for the names of saved files */
export function ContentView({ content, name }: { content: readonly ContentBlock[]; name: string }): ReactNode {
  if (content.length === 0) return <p className={css.muted}>The result has no content.</p>
  const formatted = formattedParts(content)
  return (
    <div className={css.blocks}>
      <FirstParts parts={content} more="Show more parts">
        {(block, index) => (
          <BlockView
            key={index}
            block={block}
            name={name}
            label={content.length === 1 ? 'Result' : `Part ${index + 1}`}
            isPlain={index >= formatted}
          />
        )}
      </FirstParts>
    </div>
  )
}

/** Text of all parts together that is formatted at once. Formatting many long texts takes long; each is one click away. */
const MAX_FORMATTED = 200_000

/** How many parts, from the first, are formatted. */
function formattedParts(content: readonly ContentBlock[]): number {
  let left = MAX_FORMATTED
  const found = content.findIndex((block, index) => {
    left -= block?.type === 'text' && typeof block.text === 'string' ? block.text.length : 0
    return left < 0 && index > 0
  })
  return found === -1 ? content.length : found
}

interface BlockProps {
  block: ContentBlock
  name: string
  label: string
  /** Text begins unformatted. */
  isPlain: boolean
}

function BlockView({ block, name, label, isPlain }: BlockProps): ReactNode {
  if (block?.type === 'text' && typeof block.text === 'string') return <TextView text={block.text} label={label} isPlainFirst={isPlain} />
  if ((block?.type === 'image' || block?.type === 'audio') && typeof block.data === 'string')
    return <MediaView data={block.data} mimeType={block.mimeType} name={name} />
  if (block?.type === 'resource_link') return <ResourceLinkView link={block} />
  if (block?.type === 'resource' && block.resource) return <ResourceContentsView contents={block.resource} />
  return <JsonTree value={block} label={`${label}, of an unknown kind`} />
}
