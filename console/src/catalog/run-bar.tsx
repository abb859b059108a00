/** The Run button, and the other actions of the form. */

import { type ReactNode, useRef } from 'react'
import { Button } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { KeyHint } from '../components/key-hint.tsx'
import type { RunningOperation } from '../hooks/use-console.tsx'
import css from './catalog.module.css'
import { useIsOwnNavigation, useIsReady } from './use-own-navigation.ts'
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
  const bar = useRef<HTMLDivElement>(null)
  const isOwn = useIsOwnNavigation()
  const isReady = useIsReady()
  const byKey = (): void => {
    if (!disabled && isReady && !run.isRunning) onRun()
  }
  const onFirstKey = (): boolean => {
    if (isOwn) byKey()
    else bar.current?.querySelector('button')?.focus()
    return isReady
  }
  useRunKey(byKey, onFirstKey)
  return (
    <div ref={bar} className={classes(css.bar, css.run)}>
      <Button kind="main" isBusy={run.isRunning} disabled={disabled || !isReady} onClick={onRun} title="Ctrl Enter">
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
