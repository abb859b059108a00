/** Which revision of the protocol a server is used with, and over which HTTP transport. */

import type { ReactNode } from 'react'
import { Field, Select } from '../../components/field.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { revisionChoices, type SettingsDraft, TRANSPORT_CHOICES } from '../../state/server-settings.ts'

export interface ProtocolFieldsProps {
  draft: SettingsDraft
  set(change: Partial<SettingsDraft>): void
}

export function ProtocolFields({ draft: { revisions, httpTransport, url }, set }: ProtocolFieldsProps): ReactNode {
  const known = useRoute('GET /api/settings').data?.revisions ?? []
  return (
    <>
      <Field label="Protocol revision" help="With one revision, a server that does not know it cannot be used.">
        {(control) => (
          <Select
            {...control}
            value={revisions}
            choices={revisionChoices(known, revisions)}
            onValue={(chosen) => set({ revisions: chosen })}
          />
        )}
      </Field>
      {url !== undefined && (
        <Field label="HTTP transport">
          {(control) => (
            <Select {...control} value={httpTransport} choices={TRANSPORT_CHOICES} onValue={(chosen) => set({ httpTransport: chosen })} />
          )}
        </Field>
      )}
    </>
  )
}
