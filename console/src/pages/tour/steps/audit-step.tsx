/** The audit log is verified; then a copy with one changed byte is refused. */

import { type ReactNode, useEffect } from 'react'
import { draftOf, keepDraft } from '../../../catalog/drafts.ts'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { DiffView } from '../../../components/diff-view.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { useAction } from '../../../hooks/use-console.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { counted } from '../../../state/format.ts'
import { TOUR_DRAFTS } from '../../../state/tour.ts'
import css from '../tour.module.css'
import type { StepProps } from './step-props.ts'

export function AuditStep({ onDone }: StepProps): ReactNode {
  const verify = useAction('POST /api/audit/verify')
  const spoil = useAction('POST /api/audit/break-copy')
  const verified = useKept('verified', verify.data)
  const spoiled = useKept('spoiled', spoil.data)
  const isDone = spoiled !== undefined
  useEffect(() => {
    if (isDone) onDone()
  }, [isDone, onDone])
  return (
    <div className={css.part}>
      <div className={css.buttons}>
        <Button
          kind={verified ? 'plain' : 'main'}
          isBusy={verify.isPending}
          onClick={() => verify.mutate({})}
          {...(!verified && { 'data-highlight': '' })}
        >
          Verify the log
        </Button>
        <Button
          kind={verified ? 'main' : 'plain'}
          isBusy={spoil.isPending}
          onClick={() => spoil.mutate({})}
          {...(verified && !isDone && { 'data-highlight': '' })}
        >
          Change one byte in a copy
        </Button>
      </div>
      {(verify.error ?? spoil.error) && <ErrorState title="The log could not be checked" error={(verify.error ?? spoil.error) as Error} />}
      {verified && (
        <p>
          <Badge tone={verified.ok ? 'fine' : 'danger'}>{verified.ok ? 'unchanged' : 'changed'}</Badge>{' '}
          {counted(verified.records, 'record')}, each chained to the one before.
        </p>
      )}
      {spoiled && (
        <>
          <DiffView before={foreignText(spoiled.changed.before)} after={foreignText(spoiled.changed.after)} label="The changed byte" />
          <p>
            <Badge tone="danger">detected</Badge> Record {spoiled.after.firstBad?.seq ?? spoiled.changed.seq}:{' '}
            {foreignText(spoiled.after.firstBad?.reason ?? 'it does not fit the chain')}. Your own log was not touched.
          </p>
        </>
      )}
    </div>
  )
}

/** A result that is still there after "Back". */
function useKept<Data>(name: string, data: Data | undefined): Data | undefined {
  const key = `${TOUR_DRAFTS}${name}`
  useEffect(() => {
    if (data !== undefined) keepDraft(key, { value: data })
  }, [key, data])
  return data ?? (draftOf(key).value as Data | undefined)
}
