/** What a part of a page shows while there is nothing else: empty, loading, failed. */

import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import css from './states.module.css'

/** Says what would be here, and the one thing to do. */
export const EmptyState = ({ title, children, action }: { title: ReactNode; children?: ReactNode; action?: ReactNode }): ReactNode => (
  <div className={css.empty}>
    <p className={css.title}>{title}</p>
    {children && <div className={css.text}>{children}</div>}
    {action}
  </div>
)

/** What happened, what to do, and the details to copy. */
export function ErrorState({
  title,
  error,
  advice,
  onRetry,
}: {
  title: ReactNode
  error: { code?: string; message: string }
  advice?: ReactNode
  onRetry?: () => void
}): ReactNode {
  return (
    <div className={css.error} role="alert">
      <p className={css.title}>
        <span aria-hidden="true">▲ </span>
        {title}
      </p>
      <p className={css.message}>{error.message}</p>
      {advice && <div className={css.text}>{advice}</div>}
      <div className={css.actions}>
        {onRetry && <Button onClick={onRetry}>Try again</Button>}
        <CopyButton text={[error.code, error.message].filter(Boolean).join(': ')} label="Copy details" />
      </div>
    </div>
  )
}

/** Grey lines in the size of what comes. */
export function Skeleton({ lines = 3, label = 'Loading' }: { lines?: number; label?: string }): ReactNode {
  return (
    <div role="status" className={css.skeleton}>
      <span className="sr-only">{label}</span>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={index} className={css.line} data-width={index % 3} />
      ))}
    </div>
  )
}
