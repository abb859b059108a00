/** Shows on every page that messages are recorded, with the way to stop. Nothing while nothing is recorded. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../components/button.tsx'
import { useRecording } from '../hooks/use-recording.ts'
import { foreignName } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import css from './recording-sign.module.css'

export function RecordingSign(): ReactNode {
  const { running, isBusy, stop } = useRecording()
  if (running.length === 0) return null
  const names = running.map(({ target }) => foreignName(target)).join(', ')
  return (
    <div className={css.sign} role="status">
      <Link to="/timeline" search={{ tab: 'recordings' }} className={css.words} aria-label={`Recording ${names}`} title={names}>
        <span aria-hidden="true" className={css.dot}>
          ●
        </span>
        <span className={css.label}>Recording</span>
        <span className={css.count}>{counted(running.length, 'server')}</span>
      </Link>
      <Button isSmall kind="danger" isBusy={isBusy} aria-label="Stop recording" onClick={stop}>
        Stop
      </Button>
    </div>
  )
}
