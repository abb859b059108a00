/** Says that the page is not connected, and what to do. */

import type { ReactNode } from 'react'
import { useConsoleState } from '../hooks/use-console.tsx'
import css from './connection-banner.module.css'

export function ConnectionBanner(): ReactNode {
  const connection = useConsoleState((state) => state.connection)
  if (connection !== 'lost' && connection !== 'signed-out') return null
  return (
    <div className={css.banner} role="status">
      <strong>{connection === 'lost' ? '◐ Not connected.' : '▲ This window was signed out.'}</strong>{' '}
      {connection === 'lost'
        ? 'Portico does not answer. The page may be out of date. It connects again as soon as Portico runs; to start it: npm start.'
        : 'Portico was restarted, or the session ended. Open the new link that the terminal shows.'}
    </div>
  )
}
