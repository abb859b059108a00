/** The contents of a resource, and links to resources. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Resource, ResourceContents } from '../../../src/client/index.ts'
import { buttonClass } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { SafeLink } from '../components/safe-link.tsx'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import { bytesText } from '../state/format.ts'
import { plainType } from '../state/results.ts'
import { MediaView } from './media-view.tsx'
import css from './results.module.css'
import { TextView } from './text-view.tsx'

/** Documents that browsers would run or load things for: their source is shown. */
const SOURCES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'image/svg+xml', 'text/xml', 'application/xml'])

export function ResourceContentsView({ contents, isBare = false }: { contents: ResourceContents; isBare?: boolean }): ReactNode {
  const { uri, mimeType } = contents
  const text = 'text' in contents && typeof contents.text === 'string' ? contents.text : undefined
  const isSource = SOURCES.has(plainType(mimeType))
  return (
    <div className={css.stack}>
      {!isBare && (
        <div className={css.line}>
          <code className={css.uri}>{foreignName(String(uri))}</code>
          <span className={css.muted}>{foreignName(mimeType ?? '')}</span>
        </div>
      )}
      {isSource && <p className={css.muted}>This is the source. The page never runs documents of servers.</p>}
      {text !== undefined ? (
        <TextView text={text} mimeType={isSource ? 'text/x-source' : mimeType} label={`Text of ${foreignName(String(uri))}`} />
      ) : 'blob' in contents && typeof contents.blob === 'string' ? (
        <MediaView data={contents.blob} mimeType={mimeType} name={String(uri)} />
      ) : (
        <p className={css.muted}>It has neither text nor data.</p>
      )}
    </div>
  )
}

/** A resource that a server points to. */
export function ResourceLinkView({ link }: { link: Resource }): ReactNode {
  const { uri, name, title, description, mimeType, size } = link
  const facts = [mimeType && foreignName(mimeType), typeof size === 'number' && bytesText(size)].filter(Boolean).join(', ')
  return (
    <div className={css.linkCard}>
      <div className={css.linkWords}>
        <strong>{foreignName(String(title ?? name ?? uri))}</strong>
        {/^https?:/i.test(String(uri)) ? (
          <SafeLink href={String(uri)}>{foreignName(String(uri))}</SafeLink>
        ) : (
          <code className={css.uri}>{foreignName(String(uri))}</code>
        )}
        {description && <p className={css.muted}>{foreignText(description)}</p>}
        {facts !== '' && <span className={css.muted}>{facts}</span>}
      </div>
      <div className={css.actions}>
        <CopyButton text={String(uri)} label="Copy URI" />
        <Link to="/resources" search={{ uri: String(uri) }} className={buttonClass({ isSmall: true })}>
          Open resource
        </Link>
      </div>
    </div>
  )
}
