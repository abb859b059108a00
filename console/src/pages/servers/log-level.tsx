/** Which messages a server logs: the lowest level that it is told to send. */

import type { ReactNode } from 'react'
import type { ServerFacts } from '../../../../src/console/api.ts'
import { Field, Select } from '../../components/field.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { LEVEL_CHOICES, levelHelp } from '../../state/log.ts'
import css from './page.module.css'

export function LogLevelChoice({ id, facts }: { id: string; facts: ServerFacts | undefined }): ReactNode {
  const change = useAction('PUT /api/servers/:id/log-level', { stale: ['GET /api/servers/:id'] })
  const help = foreignName(levelHelp(facts))
  const logging = facts?.logging
  if (!logging) return <p className={css.muted}>{help}</p>
  return (
    <>
      <Field label="The server logs" help={help} className={css.narrow}>
        {(control) => (
          <Select
            {...control}
            // The wanted level at once: the answer follows.
            value={change.isPending ? (change.variables.body?.level ?? logging.level) : logging.level}
            choices={LEVEL_CHOICES}
            disabled={change.isPending}
            onValue={(level) => change.mutate({ params: { id }, body: { level } })}
          />
        )}
      </Field>
      {change.isError && <ErrorState title="The level was not set" error={change.error} />}
    </>
  )
}
