/** The settings of a server: trust, command or address, variables, headers, time limit. */

import { type ReactNode, useState } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Field, Select, TextArea, TextInput } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction, useNotify } from '../../hooks/use-console.tsx'
import { changedSettings, draftOf } from '../../state/server-settings.ts'
import { KnownSettings } from './known-settings.tsx'
import css from './page.module.css'
import { ProtocolFields } from './protocol-fields.tsx'
import { SecretsOfServer } from './secrets-of-server.tsx'

const TIERS = [
  { value: 'untrusted', label: 'untrusted: its text could contain orders' },
  { value: 'trusted', label: 'trusted: I know who wrote it' },
]

export function SettingsTab({ server, onSaved }: { server: ServerDetails; onSaved(before: ServerDetails): void }): ReactNode {
  const before = draftOf(server.settings)
  const [draft, setDraft] = useState(before)
  const save = useAction('PATCH /api/servers/:id', { stale: ['GET /api/servers', 'GET /api/servers/:id'] })
  const notify = useNotify()
  const set = (change: Partial<typeof draft>): void => setDraft((now) => ({ ...now, ...change }))
  const { changes, faults } = changedSettings(before, draft)
  const isChanged = Object.keys(changes).length > 0
  if (!server.isStored) return <KnownSettings server={server} />
  const store = async (): Promise<void> => {
    // Not as a callback of mutate: the settings that it changes replace this component.
    const saved = await save.mutateAsync({ params: { id: server.id }, body: changes }).catch(() => undefined)
    if (!saved) return
    const { movedSecrets } = saved
    notify({
      tone: 'fine',
      text:
        movedSecrets.length === 0
          ? 'Saved. You are asked again if what runs has changed.'
          : `Saved. Moved to the vault: ${movedSecrets.join(', ')}.`,
    })
    onSaved(server)
  }
  return (
    <>
      <Section
        title="Settings"
        actions={
          <Button kind="main" isBusy={save.isPending} disabled={!isChanged || Object.keys(faults).length > 0} onClick={() => void store()}>
            Save
          </Button>
        }
      >
        {save.isError && <ErrorState title="The settings were not saved" error={save.error} />}
        <div className={css.form}>
          <Field label="Title">
            {(control) => <TextInput {...control} value={draft.title} onChange={(event) => set({ title: event.target.value })} />}
          </Field>
          <Field label="Trust" help="What a server says about itself never lowers a decision.">
            {(control) => <Select {...control} value={draft.tier} choices={TIERS} onValue={(tier) => set({ tier })} />}
          </Field>
          {draft.command !== undefined && (
            <>
              <Field label="Command">
                {(control) => <TextInput {...control} value={draft.command} onChange={(event) => set({ command: event.target.value })} />}
              </Field>
              <Field label="Arguments" help="One in a line">
                {(control) => (
                  <TextArea {...control} isCode rows={3} value={draft.args} onChange={(event) => set({ args: event.target.value })} />
                )}
              </Field>
              <Field label="Working folder">
                {(control) => <TextInput {...control} value={draft.cwd} onChange={(event) => set({ cwd: event.target.value })} />}
              </Field>
              <Field
                label="Variables"
                help="NAME=value, one in a line. A value that looks like a secret moves to the vault."
                fault={faults.env}
              >
                {(control) => (
                  <TextArea {...control} isCode rows={3} value={draft.env} onChange={(event) => set({ env: event.target.value })} />
                )}
              </Field>
            </>
          )}
          {draft.url !== undefined && (
            <>
              <Field label="Address">
                {(control) => <TextInput {...control} value={draft.url} onChange={(event) => set({ url: event.target.value })} />}
              </Field>
              <Field
                label="Headers"
                help="Name: value, one in a line. A value that looks like a secret moves to the vault."
                fault={faults.headers}
              >
                {(control) => (
                  <TextArea {...control} isCode rows={3} value={draft.headers} onChange={(event) => set({ headers: event.target.value })} />
                )}
              </Field>
            </>
          )}
          <ProtocolFields draft={draft} set={set} />
          <Field label="Folders to share at each start" help="One in a line. You are asked about each.">
            {(control) => (
              <TextArea {...control} isCode rows={2} value={draft.roots} onChange={(event) => set({ roots: event.target.value })} />
            )}
          </Field>
          <Field label="Labels" help="For rules, separated by commas: private:notes, egress">
            {(control) => <TextInput {...control} value={draft.labels} onChange={(event) => set({ labels: event.target.value })} />}
          </Field>
          <Field label="Time limit of a call in seconds" help="Empty: the default" fault={faults.timeoutMs}>
            {(control) => (
              <TextInput
                {...control}
                inputMode="decimal"
                value={draft.timeout}
                onChange={(event) => set({ timeout: event.target.value })}
              />
            )}
          </Field>
        </div>
      </Section>
      <SecretsOfServer settings={server.settings} />
    </>
  )
}
