/** What you can do now: the tour at first, later what waits and what you did last. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { usePreferences } from '../../hooks/use-preferences.ts'
import { TOUR_STEPS } from '../../state/tour.ts'
import { Attention } from './attention.tsx'
import css from './home.module.css'
import { RecentCalls } from './recent-calls.tsx'
import { RunningServers } from './running-servers.tsx'
import { YourServers } from './your-servers.tsx'

export function HomePage(): ReactNode {
  const [{ isTourDone, tourStep }] = usePreferences()
  return (
    <>
      <PageHeader title="Home" about="Portico runs your MCP servers in one place and asks you before something happens." />
      <Attention />
      <div className={css.columns}>
        {!isTourDone && (
          <section className={css.box} aria-labelledby="tour-title">
            <h2 id="tour-title">Try it in 90 seconds</h2>
            <p>
              {counted(TOUR_STEPS.length)} with real servers on this computer: consent, a form, your model, and a server that turns hostile.
            </p>
            <div>
              <Link to="/tour" className={buttonClass({ kind: 'main' })}>
                {tourStep === undefined ? 'Start the tour' : `Go on with step ${tourStep} of ${TOUR_STEPS.length}`}
              </Link>
            </div>
          </section>
        )}
        <YourServers />
      </div>
      <RunningServers />
      <RecentCalls />
      {isTourDone && (
        <p className={css.muted}>
          <Link to="/tour" search={{ step: 1 }}>
            Take the tour again
          </Link>
        </p>
      )}
    </>
  )
}

const counted = (steps: number): string => (steps === 7 ? 'Seven steps' : `${steps} steps`)
