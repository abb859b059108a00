/** The view of a tool: a page of its server, in a frame of another origin. It is shown when the person asks for it. */

import { type ReactNode, useMemo } from 'react'
import type { CallToolResult } from '../../../src/client/index.ts'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { ErrorState } from '../components/states.tsx'
import { useApp } from '../hooks/use-app.ts'
import { useConsoleState } from '../hooks/use-console.tsx'
import { useShowWaiting } from '../hooks/use-show-waiting.ts'
import { foreignName } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import css from './app-frame.module.css'

export interface AppFrameProps {
  /** The unique name of the tool. */
  tool: string
  args: Record<string, unknown>
  result: CallToolResult
  /** The conversation with the call. Default: none. */
  conversation?: string
  /** Sends a message of the view to the chat, after the person agreed to it. */
  onSay?(text: string): void
}

export function AppFrame({ tool, args, result, conversation, onSay }: AppFrameProps): ReactNode {
  const given = useMemo(
    () => ({ tool, args, result, ...(conversation !== undefined && { conversation }) }),
    [tool, args, result, conversation],
  )
  const { app, address, height, error, isOpening, ended, frame, open, close } = useApp(given, onSay)
  if (!app)
    return (
      <div className={css.offer}>
        <Button isSmall isBusy={isOpening} onClick={() => open(false)}>
          Show the view
        </Button>
        <span className={css.muted}>The server has a page for this result.</span>
        {ended && <span role="alert">The view was closed: {ended}</span>}
        {error && <ErrorState title="The view cannot be shown" error={error} />}
      </div>
    )
  return (
    <section className={css.app} aria-label="View of the tool">
      <div className={css.head}>
        <span>
          Page of <strong>{foreignName(app.server)}</strong>
        </span>
        <span className={css.muted}>It cannot see this console. You are asked about what it does.</span>
        <Button isSmall kind="quiet" onClick={close}>
          Close the view
        </Button>
      </div>
      <AppQuestions server={app.server} />
      {app.addresses.length > 0 && (
        <div className={css.notice}>
          <span>
            {app.allowsAddresses ? 'It may contact ' : 'It wants to contact '}
            {app.addresses.map(foreignName).join(', ')}
            {app.allowsAddresses ? '.' : '. That is blocked.'}
            {app.framed.length > 0 &&
              ` ${app.allowsAddresses ? 'It shows' : 'It also wants to show'} pages of ${app.framed.map(foreignName).join(', ')}. Such a page can contact every address.`}
          </span>
          {!app.allowsAddresses && (
            <Button isSmall onClick={() => open(true)}>
              Allow it and load again
            </Button>
          )}
        </div>
      )}
      {app.refused.length > 0 && <p className={css.muted}>Always blocked: {app.refused.map(foreignName).join(', ')}</p>}
      <iframe
        key={app.id}
        ref={frame}
        className={classes(css.frame, app.prefersBorder && css.bordered)}
        style={{ height: Math.min(Math.max(height, MIN_HEIGHT), MAX_HEIGHT) }}
        title={`Page of ${foreignName(app.server)}`}
        sandbox="allow-scripts allow-same-origin allow-forms"
        referrerPolicy="no-referrer"
        src={address}
      />
    </section>
  )
}

/** A view can ask without a click, so its questions open no dialog. They wait where all questions wait. */
function AppQuestions({ server }: { server: string }): ReactNode {
  const questions = useConsoleState((state) => state.questions)
  const show = useShowWaiting()
  const waiting = questions.filter(({ end, view }) => end === undefined && view?.question.chain.includes(`app of ${server}`))
  if (waiting.length === 0) return null
  return (
    <div className={css.notice} role="status">
      <Badge tone="waiting">Waiting for you</Badge>
      <span>The view goes on after your answer.</span>
      <Button isSmall kind="main" onClick={show}>
        Show {waiting.length === 1 ? 'its question' : counted(waiting.length, 'question')}
      </Button>
    </div>
  )
}

const MIN_HEIGHT = 60
/** A view that is taller scrolls. */
const MAX_HEIGHT = 800
