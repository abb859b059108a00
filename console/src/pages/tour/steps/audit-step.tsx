/** The audit log is verified; then a copy with one changed byte is refused. */

import { type ReactNode, useEffect } from 'react'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { DiffView } from '../../../components/diff-view.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { useAction } from '../../../hooks/use-console.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { counted } from '../../../state/format.ts'
import css from '../tour.module.css'
import type { StepProps } from './step-props.ts'

export function AuditStep({ onDone }: StepProps): ReactNode {
  const verify = useAction('POST /api/audit/verify')
  const spoil = useAction('POST /api/audit/break-copy')
  const isDone = spoil.data !== undefined
  useEffect(() => {
    if (isDone) onDone()
  }, [isDone, onDone])
  return (
    <div className={css.part}>
      <div className={css.buttons}>
        <Button
          kind={verify.data ? 'plain' : 'main'}
          isBusy={verify.isPending}
          onClick={() => verify.mutate({})}
          {...(!verify.data && { 'data-highlight': '' })}
        >
          Verify the log
        </Button>
        <Button
          kind={verify.data ? 'main' : 'plain'}
          isBusy={spoil.isPending}
          onClick={() => spoil.mutate({})}
          {...(verify.data && !isDone && { 'data-highlight': '' })}
        >
          Change one byte in a copy
        </Button>
      </div>
      {(verify.error ?? spoil.error) && <ErrorState title="The log could not be checked" error={(verify.error ?? spoil.error) as Error} />}
      {verify.data && (
        <p>
          <Badge tone={verify.data.ok ? 'fine' : 'danger'}>{verify.data.ok ? 'unchanged' : 'changed'}</Badge>{' '}
          {counted(verify.data.records, 'record')}, each chained to the one before.
        </p>
      )}
      {spoil.data && (
        <>
          <DiffView
            before={foreignText(spoil.data.changed.before)}
            after={foreignText(spoil.data.changed.after)}
            label="The changed byte"
          />
          <p>
            <Badge tone="danger">detected</Badge> Record {spoil.data.after.firstBad?.seq ?? spoil.data.changed.seq}:{' '}
            {foreignText(spoil.data.after.firstBad?.reason ?? 'it does not fit the chain')}. Your own log was not touched.
          </p>
        </>
      )}
    </div>
  )
}
