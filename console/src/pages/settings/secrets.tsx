/** The secrets in the vault. Their values never come back to the page. */

import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Field, TextInput } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import css from './page.module.css'

/** What a configuration names in place of the value. */
const SECRET_HANDLE = ['$', '{secret:NAME}'].join('')

export function Secrets(): ReactNode {
  const list = useRoute('GET /api/secrets')
  const store = useAction('PUT /api/secrets/:name', { stale: ['GET /api/secrets'] })
  const remove = useAction('DELETE /api/secrets/:name', { stale: ['GET /api/secrets'] })
  const notify = useNotify()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const save = (): void =>
    store.mutate(
      { params: { name: name.trim() }, body: { value } },
      {
        onSuccess: () => {
          setName('')
          setValue('')
          notify({ tone: 'fine', text: 'Stored. Servers use the new value at their next start.' })
        },
      },
    )
  return (
    <>
      <Section title="Secrets">
        <p className={css.muted}>
          Write <code>{SECRET_HANDLE}</code> in a variable or a header of a server. The console never shows a value.
        </p>
        {list.isPending && <Skeleton lines={3} />}
        {list.isError && <ErrorState title="The secrets could not be listed" error={list.error} onRetry={() => void list.refetch()} />}
        {remove.isError && <ErrorState title="The secret was not removed" error={remove.error} />}
        {list.data?.secrets.length === 0 && (
          <EmptyState title="The vault is empty">Keys that you import or enter for servers are stored here.</EmptyState>
        )}
        {list.data && list.data.secrets.length > 0 && (
          <Table
            label="Secrets"
            rows={list.data.secrets}
            keyOf={({ name: each }) => each}
            columns={[
              { id: 'name', head: 'Name', cell: ({ name: each }) => <code>{foreignName(each)}</code> },
              {
                id: 'servers',
                head: 'Used by',
                cell: ({ servers, models }) => [...servers, ...models].map(foreignName).join(', ') || 'nothing',
              },
              {
                id: 'remove',
                head: <span className="sr-only">Remove</span>,
                isAction: true,
                cell: ({ name: each }) => (
                  <Button
                    isSmall
                    kind="danger"
                    aria-label={`Remove ${foreignName(each)}`}
                    onClick={() => remove.mutate({ params: { name: each } })}
                  >
                    Remove
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Section>
      <Section title="Store a secret">
        <form
          className={css.form}
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <Field label="Name" isRequired>
            {(control) => <TextInput {...control} value={name} onChange={(event) => setName(event.target.value)} />}
          </Field>
          <Field label="Value" isRequired>
            {(control) => <TextInput {...control} type="password" value={value} onChange={(event) => setValue(event.target.value)} />}
          </Field>
          {store.isError && <ErrorState title="The secret was not stored" error={store.error} />}
          <div>
            <Button kind="main" type="submit" isBusy={store.isPending} disabled={name.trim() === '' || value === ''}>
              Store
            </Button>
          </div>
        </form>
      </Section>
    </>
  )
}
