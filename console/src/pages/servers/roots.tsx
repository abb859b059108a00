/** The folders that a server may work in. */

import { type ReactNode, useState } from 'react'
import type { RootView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Field, TextInput } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { useAction, useOperation } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import css from './page.module.css'

export function Roots({ id, roots }: { id: string; roots: readonly RootView[] }): ReactNode {
  const [folder, setFolder] = useState('')
  const add = useOperation()
  const remove = useAction('DELETE /api/servers/:id/roots', { stale: ['GET /api/servers/:id'] })
  const error = add.startError ?? add.operation?.error ?? remove.error
  return (
    <Section title="Folders">
      {roots.length === 0 && <p className={css.muted}>No folder is shared with this server.</p>}
      <ul className={css.plainList}>
        {roots.map(({ uri, name }) => (
          <li key={uri} className={css.line}>
            <span className={css.grow}>
              {name !== undefined && `${foreignName(name)}: `}
              <code>{foreignName(uri)}</code>
            </span>
            <Button
              isSmall
              kind="danger"
              aria-label={`Stop sharing ${foreignName(uri)}`}
              onClick={() => remove.mutate({ params: { id }, query: { uri } })}
            >
              Stop sharing
            </Button>
          </li>
        ))}
      </ul>
      <form
        className={css.inline}
        onSubmit={(event) => {
          event.preventDefault()
          void add.start('POST /api/servers/:id/roots', { params: { id }, body: { folder } }).then((started) => started && setFolder(''))
        }}
      >
        <Field label="Share a folder" fault={error ? foreignText(error.message) : undefined}>
          {(control) => (
            <TextInput {...control} placeholder="/home/you/project" value={folder} onChange={(event) => setFolder(event.target.value)} />
          )}
        </Field>
        <Button type="submit" isBusy={add.isRunning} disabled={folder.trim() === ''}>
          Share
        </Button>
      </form>
    </Section>
  )
}
