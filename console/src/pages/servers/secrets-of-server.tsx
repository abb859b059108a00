/** The secrets that a server uses: their names, and a way to store another value. No value comes back to the page. */

import { type ReactNode, useState } from 'react'
import type { ServerSettings } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Field, TextInput } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { useAction, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { type SecretHandle, secretHandles } from '../../state/server-settings.ts'
import css from './page.module.css'

export function SecretsOfServer({ settings }: { settings: ServerSettings }): ReactNode {
  const handles = secretHandles(settings)
  const stored = useRoute('GET /api/secrets', {}, { isEnabled: handles.length > 0 }).data?.secrets
  if (handles.length === 0) return null
  return (
    <Section title="Secrets">
      <p className={css.muted}>They are in the vault. The settings only name them.</p>
      {handles.map((handle) => (
        <Secret key={handle.name} handle={handle} isMissing={stored !== undefined && !stored.some(({ name }) => name === handle.name)} />
      ))}
    </Section>
  )
}

function Secret({ handle: { name, places }, isMissing }: { handle: SecretHandle; isMissing: boolean }): ReactNode {
  const [value, setValue] = useState('')
  const store = useAction('PUT /api/secrets/:name', { stale: ['GET /api/secrets'] })
  const notify = useNotify()
  return (
    <form
      className={css.inline}
      onSubmit={(event) => {
        event.preventDefault()
        store.mutate(
          { params: { name }, body: { value } },
          {
            onSuccess: () => {
              setValue('')
              notify({ tone: 'fine', text: 'Stored. The server uses the new value at its next start.' })
            },
          },
        )
      }}
    >
      <Field
        label={`${foreignName(name)}, used in ${places.map(foreignName).join(', ')}`}
        fault={store.error?.message ?? (isMissing ? 'The vault has no such secret.' : undefined)}
      >
        {(control) => (
          <TextInput
            {...control}
            type="password"
            placeholder={isMissing ? 'Value' : 'New value'}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" isBusy={store.isPending} disabled={value === ''}>
        Store
      </Button>
    </form>
  )
}
