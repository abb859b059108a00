/** One resource: what the server says about it, and its contents. */

import type { ReactNode } from 'react'
import type { Resource } from '../../../../src/client/index.ts'
import type { EntryView } from '../../../../src/console/api.ts'
import css from '../../catalog/catalog.module.css'
import { PanelHead } from '../../catalog/panel-head.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { bytesText } from '../../state/format.ts'
import { ReadUri } from './read-uri.tsx'

/** @param entry undefined: no list has the URI, as with one from a template or a link */
export function ResourcePanel({ uri, entry }: { uri: string; entry: EntryView<Resource> | undefined }): ReactNode {
  const { title, name, description, mimeType, size } = entry?.definition ?? { name: uri }
  const facts = [mimeType && foreignName(mimeType), typeof size === 'number' && bytesText(size)].filter(Boolean).join(' · ')
  return (
    <section className={css.panel} aria-label="Resource">
      <PanelHead title={title ?? name} name={uri} server={entry?.server} description={description} facts={facts} />
      <ReadUri uri={uri} />
    </section>
  )
}
