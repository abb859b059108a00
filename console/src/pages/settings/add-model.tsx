/** The form that stores a model. Its key goes to the vault, and is never shown again. */

import { type ReactNode, useState } from 'react'
import type { ModelProviderView, StoredModelView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Field, Select, TextInput } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { type ModelDraft, modelFaults, nameExample, newModelOf, providerLabel } from '../../state/models.ts'
import css from './page.module.css'

const EMPTY = { model: '', baseURL: '', key: '' }

export interface AddModelProps {
  providers: readonly ModelProviderView[]
  stored: readonly StoredModelView[]
  onAdded(id: string): void
}

export function AddModel({ providers, stored, onAdded }: AddModelProps): ReactNode {
  const [draft, setDraft] = useState<ModelDraft>({ provider: 'anthropic', ...EMPTY })
  const add = useAction('POST /api/models', { stale: ['GET /api/models', 'GET /api/settings', 'GET /api/secrets'] })
  const provider = providers.find(({ id }) => id === draft.provider)
  if (!provider) return null
  const faults = modelFaults(draft, provider, stored)
  const body = newModelOf(draft, provider, stored)
  const set = (change: Partial<ModelDraft>): void => setDraft((now) => ({ ...now, ...change }))
  const save = async (): Promise<void> => {
    if (!body) return
    const done = await add.mutateAsync({ body }).catch(() => undefined)
    if (!done) return
    set(EMPTY)
    // The key must not stay in the memory of the page.
    add.reset()
    onAdded(done.model.id)
  }
  return (
    <Section title="Add a model">
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Field label="Provider" help={provider.id === 'compatible' ? 'Any service with the chat completions API' : undefined}>
          {(control) => (
            <Select
              {...control}
              value={draft.provider}
              choices={providers.map(({ id }) => ({ value: id, label: providerLabel(id) }))}
              onValue={(id) => setDraft({ ...draft, provider: id, baseURL: '', key: '' })}
            />
          )}
        </Field>
        {!provider.isInstalled && (
          <div>
            <p className={css.muted}>
              It needs a package that is not installed here. Run this where Portico is installed, then start it again:
            </p>
            <CodeBlock text={provider.install} label="Install" />
          </div>
        )}
        <Field label="Name of the model" isRequired fault={faults.model}>
          {(control) => (
            <TextInput
              {...control}
              value={draft.model}
              placeholder={nameExample(draft.provider)}
              onChange={(event) => set({ model: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Address"
          isRequired={provider.baseURL === undefined}
          help={provider.baseURL === undefined ? 'Without /chat/completions, for example http://127.0.0.1:8080/v1' : 'Empty: as shown'}
          fault={faults.baseURL}
        >
          {(control) => (
            <TextInput
              {...control}
              inputMode="url"
              value={draft.baseURL}
              placeholder={provider.baseURL}
              onChange={(event) => set({ baseURL: event.target.value })}
            />
          )}
        </Field>
        {provider.key !== 'none' && (
          <Field
            label="Key"
            isRequired={provider.key === 'needed'}
            help="It is stored in the vault, sent only to this address, and never shown again."
            fault={faults.key}
          >
            {(control) => (
              <TextInput
                {...control}
                type="password"
                autoComplete="new-password"
                value={draft.key}
                onChange={(event) => set({ key: event.target.value })}
              />
            )}
          </Field>
        )}
        {add.isError && <ErrorState title="The model was not added" error={add.error} />}
        <div>
          <Button kind="main" type="submit" isBusy={add.isPending} disabled={!body}>
            Add and test
          </Button>
        </div>
      </form>
    </Section>
  )
}
