/** The Run button, and the other actions of the form. */

import type { ReactNode } from 'react'
import { Button } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { KeyHint } from '../components/key-hint.tsx'
import type { RunningOperation } from '../hooks/use-console.tsx'
import css from './catalog.module.css'
import { useRunKey } from './use-run-key.ts'

export function RunBar({
  label,
  run,
  onRun,
  disabled = false,
  children,
}: {
  label: string
  run: RunningOperation
  onRun(): void
  disabled?: boolean
  children?: ReactNode
}): ReactNode {
  useRunKey(() => !disabled && !run.isRunning && onRun())
  return (
    <div className={classes(css.bar, css.run)}>
      <Button kind="main" isBusy={run.isRunning} disabled={disabled} onClick={onRun} title="Ctrl Enter">
        {label}
      </Button>
      <span className={css.keys}>
        <KeyHint keys="Ctrl Enter" />
      </span>
      <span className={css.grow} />
      {children}
    </div>
  )
}
