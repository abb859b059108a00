/** The switch "I am writing this server". While it is on, its restarts and its changed offering are not asked about. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { Checkbox } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'

export function WritingSwitch({ server: { id, isBeingWritten } }: { server: ServerDetails }): ReactNode {
  const change = useAction('PUT /api/servers/:id/writing', { stale: ['GET /api/servers/:id', 'GET /api/policy'] })
  if (isBeingWritten === undefined) return null
  return (
    <Section title="Development">
      {change.isError && <ErrorState title="The switch was not changed" error={change.error} />}
      <Checkbox
        label="I am writing this server"
        help="While this is on, it starts again as soon as you save its code, and everything new that it offers is enabled, without a question. Calls of a model are still asked about."
        // The wanted state at once: the answer follows.
        checked={change.isPending ? change.variables.body?.isOn : isBeingWritten}
        disabled={change.isPending}
        onChange={(event) => change.mutate({ params: { id }, body: { isOn: event.target.checked } })}
      />
      {isBeingWritten && (
        <p>
          Your <Link to="/policy">rules</Link> contain this as writing-{id}.
        </p>
      )}
    </Section>
  )
}
