/** The parts of a result or a message, each as what it is. Parts of unknown kinds are shown as data. */

import type { ReactNode } from 'react'
import type { ContentBlock } from '../../../src/client/index.ts'
import { JsonTree } from '../components/json-tree.tsx'
import { MediaView } from './media-view.tsx'
import { ResourceContentsView, ResourceLinkView } from './resource-view.tsx'
import css from './results.module.css'
import { TextView } from './text-view.tsx'

/** @param name of the tool or prompt, for the names of saved files */
export function ContentView({ content, name }: { content: readonly ContentBlock[]; name: string }): ReactNode {
  if (content.length === 0) return <p className={css.muted}>The result has no content.</p>
  return (
    <div className={css.blocks}>
      {content.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a result do not move
        <BlockView key={index} block={block} name={name} label={content.length === 1 ? 'Result' : `Part ${index + 1}`} />
      ))}
    </div>
  )
}

function BlockView({ block, name, label }: { block: ContentBlock; name: string; label: string }): ReactNode {
  if (block?.type === 'text' && typeof block.text === 'string') return <TextView text={block.text} label={label} />
  if ((block?.type === 'image' || block?.type === 'audio') && typeof block.data === 'string')
    return <MediaView data={block.data} mimeType={block.mimeType} name={name} />
  if (block?.type === 'resource_link') return <ResourceLinkView link={block} />
  if (block?.type === 'resource' && block.resource) return <ResourceContentsView contents={block.resource} />
  return <JsonTree value={block} label={`${label}, of an unknown kind`} />
}
