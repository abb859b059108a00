/** Checks a server step by step, and names the step that fails. */

import { type ReactNode, useEffect, useState } from 'react'
import type { DoctorFinding, DoctorReport } from '../../../../src/console/api.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { useEvents, useOperation } from '../../hooks/use-console.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { durationText } from '../../state/format.ts'
import { loginAdvice } from '../../state/servers.ts'
import css from './page.module.css'

const TONES: Readonly<Record<DoctorFinding['status'], Tone>> = { ok: 'fine', failed: 'danger', skipped: 'plain' }

export interface DoctorProps {
  id: string
  /** The settings send a header with a token. */
  hasToken: boolean
  onLogin(): void
}

export function Doctor({ id, hasToken, onLogin }: DoctorProps): ReactNode {
  const checkup = useOperation()
  const { operation } = checkup
  const [live, setLive] = useState<readonly DoctorFinding[]>([])
  useEvents((event) => {
    if (event.name === 'doctor' && event.data.server === id) setLive((known) => [...known, event.data.finding])
  })
  const isDone = operation?.state === 'done'
  const report = isDone ? (operation.result as DoctorReport | undefined) : undefined
  const findings = report?.findings ?? live
  useEffect(() => {
    if (report) setLive([])
  }, [report])
  const start = (): void => {
    setLive([])
    void checkup.start('POST /api/servers/:id/doctor', { params: { id } })
  }
  return (
    <>
      <p className={css.before}>
        <Button kind="main" isBusy={checkup.isRunning} onClick={start}>
          {operation ? 'Check again' : 'Check this server'}
        </Button>
      </p>
      {checkup.startError && <ErrorState title="The checkup did not start" error={checkup.startError} />}
      {operation?.error && <ErrorState title="The checkup stopped" error={operation.error} />}
      {findings.length === 0 && !checkup.isRunning && !operation && (
        <EmptyState title="What does the doctor do?">
          It starts or reaches the server in small steps, measures each, and names the one that fails with what to do.
        </EmptyState>
      )}
      <ol className={css.steps}>
        {findings.map(({ step, status, ms, detail, advice, code }) => (
          <li key={step} className={css.step} data-status={status}>
            <span className={css.line}>
              <Badge tone={TONES[status]}>{status}</Badge>
              <strong className={css.grow}>{step}</strong>
              <span className={css.muted}>{durationText(ms)}</span>
            </span>
            <span className={css.detail}>{foreignText(detail)}</span>
            {code === 'ERR_AUTH' ? (
              <span className={css.advice}>
                What to do: {loginAdvice(hasToken)}{' '}
                {!hasToken && (
                  <Button isSmall onClick={onLogin}>
                    Log in
                  </Button>
                )}
              </span>
            ) : (
              advice !== undefined && <span className={css.advice}>What to do: {foreignText(advice)}</span>
            )}
          </li>
        ))}
      </ol>
      {report && (
        <p role="status">
          <Badge tone={report.isHealthy ? 'fine' : 'danger'}>{report.isHealthy ? 'healthy' : 'not healthy'}</Badge>
        </p>
      )}
    </>
  )
}
