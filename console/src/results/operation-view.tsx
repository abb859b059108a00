/** A started operation: progress and Cancel while it runs, then how it ended. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import type { OperationView as View } from '../../../src/console/api.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { ErrorState, Skeleton } from '../components/states.tsx'
import type { RunningOperation } from '../hooks/use-console.tsx'
import { foreignText } from '../state/foreign-text.ts'
import { bytesText, durationText } from '../state/format.ts'
import css from './results.module.css'

export function OperationView({
  run,
  onRetry,
  children,
}: {
  run: RunningOperation
  onRetry?: () => void
  children(result: unknown, ended: ReactNode): ReactNode
}): ReactNode {
  const { operation, startError } = run
  if (startError) return <ErrorState title="It was not started" error={startError} {...(onRetry && { onRetry })} />
  if (!operation) return null
  if (operation.state === 'running') return <Running operation={operation} onCancel={run.cancel} />
  if (operation.state === 'cancelled') return <p className={css.muted}>Cancelled after {tookText(operation)}.</p>
  if (operation.state === 'failed') return <Failed operation={operation} onRetry={onRetry} />
  if (operation.result === undefined) return <Skeleton lines={3} label={`Fetching ${bytesText(operation.resultBytes ?? 0)}`} />
  return children(operation.result, <Ended operation={operation} />)
}

/** `20 ms, and 3 s for your answers`. */
function tookText({ startedAt, endedAt = startedAt, waitedMs = 0 }: View): string {
  const took = durationText(Math.max(0, endedAt - startedAt - waitedMs))
  return waitedMs === 0 ? took : `${took}, and ${durationText(waitedMs)} for your answers`
}

const Ended = ({ operation }: { operation: View }): ReactNode => (
  <span className={css.ended}>
    <Badge tone={hasToolError(operation.result) ? 'danger' : 'fine'}>{hasToolError(operation.result) ? 'error' : 'done'}</Badge>
    <span className={css.muted}>
      {tookText(operation)}
      {operation.resultBytes !== undefined && ` · ${bytesText(operation.resultBytes)}`}
    </span>
    {operation.isDeclined && <strong>You declined a question of this call.</strong>}
  </span>
)

const hasToolError = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && (result as { isError?: unknown }).isError === true

function Running({ operation, onCancel }: { operation: View; onCancel(): void }): ReactNode {
  const now = useNow()
  const { progress, startedAt } = operation
  const { total } = progress ?? {}
  const hasShare = progress !== undefined && typeof total === 'number' && total > 0
  return (
    <div className={css.running}>
      <div className={css.line}>
        <span role="status">
          {progress?.message === undefined ? 'Running' : foreignText(progress.message)}
          {hasShare && ` · ${Math.min(100, Math.round((progress.progress / total) * 100))} %`}
        </span>
        <span className={css.muted}>{durationText(Math.max(0, now - startedAt))}</span>
        <Button isSmall onClick={onCancel}>
          Cancel
        </Button>
      </div>
      {hasShare ? (
        <progress className={css.progress} aria-label="Progress" value={progress.progress} max={total} />
      ) : (
        <progress className={css.progress} aria-label="Progress" />
      )}
    </div>
  )
}

/** The time, ten times in a second. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 100)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** What a person can do about an error. */
const ADVICE: Readonly<Record<string, ReactNode>> = {
  ERR_DENIED: (
    <>
      A rule or an answer refused it. <Link to="/audit">The audit log</Link> says which.
    </>
  ),
  ERR_CONSENT: 'The question was not answered, or the answer was no.',
  ERR_TIMEOUT: 'The server took too long. Try again, or look at its log.',
  ERR_CLOSED: 'The connection to the server ended. Restart the server.',
  ERR_INVALID_PARAMS: 'The server does not accept these arguments. Compare them with the description.',
}

const Failed = ({ operation, onRetry }: { operation: View; onRetry: (() => void) | undefined }): ReactNode => {
  const error = operation.error ?? { code: 'ERR_UNKNOWN', message: 'The operation failed without a reason' }
  return (
    <ErrorState
      title={`Failed after ${tookText(operation)}`}
      error={{ code: error.code, message: foreignText(error.message) }}
      advice={ADVICE[error.code]}
      {...(onRetry && { onRetry })}
    />
  )
}
