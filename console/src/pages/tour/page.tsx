/** The tour: seven steps on real traffic. It can be left at any time and taken up again. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { draftOf, forgetDrafts, keepDraft } from '../../catalog/drafts.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { classes } from '../../components/classes.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { useConsole } from '../../hooks/use-console.tsx'
import { useIsWide } from '../../hooks/use-is-wide.ts'
import { changePreferences, usePreferences } from '../../hooks/use-preferences.ts'
import { Tray } from '../../questions/tray.tsx'
import { stepAt, TOUR_DRAFTS, TOUR_STEPS, type TourStepId } from '../../state/tour.ts'
import { AuditStep } from './steps/audit-step.tsx'
import { ChangeStep } from './steps/change-step.tsx'
import { ConsentStep } from './steps/consent-step.tsx'
import { FormStep } from './steps/form-step.tsx'
import { LeakStep } from './steps/leak-step.tsx'
import { ModelStep } from './steps/model-step.tsx'
import { ServerStep } from './steps/server-step.tsx'
import type { StepProps } from './steps/step-props.ts'
import css from './tour.module.css'

const STEPS: Readonly<Record<TourStepId, (props: StepProps) => ReactNode>> = {
  consent: ConsentStep,
  form: FormStep,
  model: ModelStep,
  server: ServerStep,
  change: ChangeStep,
  leak: LeakStep,
  audit: AuditStep,
}

const DONE = `${TOUR_DRAFTS}done`

export function TourPage(): ReactNode {
  const search = useSearch({ from: '/tour' })
  const [{ tourStep }] = usePreferences()
  const { api } = useConsole()
  const navigate = useNavigate()
  const isWide = useIsWide()
  const number = stepAt(search.step ?? tourStep)
  const [done, setDone] = useState<ReadonlySet<number>>(() => new Set(draftOf(DONE).value as Iterable<number> | undefined))
  const finishStep = (): void => {
    if (done.has(number)) return
    keepDraft(DONE, { value: [...done, number] })
    setDone(new Set([...done, number]))
  }
  useEffect(() => {
    // Questions of the model appear in the tray, so it is open during the tour.
    changePreferences({ tourStep: number, isTrayOpen: true })
  }, [number])
  const step = TOUR_STEPS[number - 1]
  if (!step) return null
  const Content = STEPS[step.id]
  const isLast = number === TOUR_STEPS.length
  const go = (to: number): void => void navigate({ to: '/tour', search: { step: to } })
  const finish = (): void => {
    changePreferences({ isTourDone: true, tourStep: undefined, isTrayOpen: false })
    forgetDrafts(TOUR_DRAFTS)
    api.call('DELETE /api/tour/rogue').catch(() => {})
    void navigate({ to: '/' })
  }
  const isDone = done.has(number)
  return (
    <>
      <PageHeader
        title="Tour"
        about="Real servers on this computer, real messages. A script plays the model, so no account is needed."
        actions={
          <Link to="/" className={css.leave}>
            Leave, and go on later
          </Link>
        }
      />
      <ol className={css.steps} aria-label="Steps">
        {TOUR_STEPS.map(({ id, title }, index) => (
          <li key={id}>
            <button
              type="button"
              className={classes(css.step, index + 1 === number && css.current)}
              aria-current={index + 1 === number ? 'step' : undefined}
              onClick={() => go(index + 1)}
            >
              <span className={css.number}>{done.has(index + 1) ? '✓' : index + 1}</span>
              <span className={css.stepTitle}>{title}</span>
            </button>
          </li>
        ))}
      </ol>
      <section className={css.content} aria-labelledby="step-title">
        <h2 id="step-title">
          {number}. {step.title}
        </h2>
        <p className={css.sentence}>{step.sentence}</p>
        <Content key={step.id} onDone={finishStep} />
        <p className={css.look}>{isDone ? <Badge tone="fine">Seen</Badge> : step.look}</p>
        <div className={css.moves}>
          <Button disabled={number === 1} onClick={() => go(number - 1)}>
            Back
          </Button>
          {isLast ? (
            <Button kind={isDone ? 'main' : 'plain'} onClick={finish}>
              Finish the tour
            </Button>
          ) : (
            <Button kind={isDone ? 'main' : 'plain'} onClick={() => go(number + 1)} {...(isDone && { 'data-highlight': '' })}>
              {isDone ? 'Next step' : 'Skip this step'}
            </Button>
          )}
        </div>
      </section>
      {!isWide && (
        <section aria-label="Waiting for you">
          <Tray />
        </section>
      )}
    </>
  )
}
