/** How an operation of the tour goes: progress, the end in words, the error. */

import type { ReactNode } from 'react'
import { Badge } from '../../../components/badge.tsx'
import { ErrorState } from '../../../components/states.tsx'
import type { RunningOperation } from '../../../hooks/use-console.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import css from '../tour.module.css'

export function Outcome({ run, done }: { run: RunningOperation; done?: ReactNode }): ReactNode {
  const { operation, startError } = run
  if (startError) return <ErrorState title="It could not be started" error={startError} />
  if (!operation) return null
  if (operation.state === 'running') {
    const { message, progress, total } = operation.progress ?? {}
    return (
      <p aria-live="polite">
        <Badge tone="waiting">running</Badge> {message !== undefined && foreignText(message)}{' '}
        {progress !== undefined && total !== undefined && `${progress} of ${total}`}
      </p>
    )
  }
  if (operation.state === 'done') {
    return (
      <div className={css.part} aria-live="polite">
        <Badge tone="fine">done</Badge>
        {done}
      </div>
    )
  }
  return (
    <p aria-live="polite">
      <Badge tone={operation.state === 'failed' ? 'danger' : 'plain'}>{operation.state === 'failed' ? 'refused' : 'cancelled'}</Badge>{' '}
      {foreignText(operation.error?.message ?? '')}
    </p>
  )
}
