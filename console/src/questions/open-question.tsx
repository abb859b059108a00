/** A question that can be answered: its summary, its buttons, and what the person opened. */

import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { isQuiet, lastingChoices, mustOpen, noText, QUIET_MS, yesAnswer, yesText } from '../state/question-words.ts'
import { DenyWithReason } from './deny-with-reason.tsx'
import { Details } from './details.tsx'
import { Edit, isEditable } from './edit.tsx'
import css from './question-card.module.css'
import { QuestionLines } from './question-lines.tsx'
import { OwnAnswer } from './subjects/own-answer.tsx'
import { SubjectView } from './subjects/subject-view.tsx'
import { useAnswer } from './use-answer.ts'

type Part = 'details' | 'edit' | 'reason'

export function OpenQuestion({ question, view }: { question: WaitingQuestion; view: QuestionView }): ReactNode {
  const { question: asked, summary } = view
  const [part, setPart] = useState<Part>()
  const [wasOpened, setOpened] = useState(false)
  const { isReady, when } = useQuietTime(question.shownAt)
  const { send, fault } = useAnswer(question)
  const isFolded = mustOpen(view) && !wasOpened
  const isBusy = question.isAnswering === true
  // Clicks in the quiet time are ignored; the buttons stay where they are and keep the focus.
  const answer = (given: GivenAnswer): boolean => {
    if (!isReady()) return false
    send(given)
    return true
  }
  const open = (next: Part): void => {
    if (next === 'details') setOpened(true)
    setPart(part === next ? undefined : next)
  }
  const own = OwnAnswer({
    subject: asked.subject,
    isBusy,
    onSend: (edited) => answer(yesAnswer(asked, edited)),
    onDeny: () => answer({ kind: 'deny' }),
  })
  const lasting = lastingChoices(asked)
  const allow = (given: GivenAnswer): void => {
    if (isFolded) open('details')
    else answer(given)
  }
  return (
    <div className={css.part}>
      {own === undefined && <QuestionLines lines={shownLines(view)} isCompact />}
      <SubjectView view={view} onChoose={(edited) => allow(yesAnswer(asked, edited))} isBusy={isBusy} />
      {own ?? (
        <div className={css.buttons} data-quiet={when === 'quiet' ? '' : undefined}>
          <Button
            kind="main"
            data-answer="allow"
            isBusy={isBusy}
            onClick={() => allow(yesAnswer(asked))}
            aria-disabled={isFolded || undefined}
          >
            {yesText(asked.subject)}
          </Button>
          {lasting.length > 0 && (
            <Menu
              label="Always allow …"
              disabled={isBusy || isFolded}
              actions={lasting.map(({ label, answer: given }) => ({ label, onSelect: () => allow(given) }))}
            />
          )}
          <Button data-answer="deny" isBusy={isBusy} onClick={() => answer({ kind: 'deny' })}>
            {noText(asked.subject)}
          </Button>
        </div>
      )}
      {isFolded && (
        <p className={css.hint}>{summary.folded.toLocaleString('en')} characters are folded. Open the details before you allow it.</p>
      )}
      {fault !== undefined && (
        <p className={css.fault} role="alert">
          {fault}
        </p>
      )}
      <div className={css.more}>
        <Button kind="quiet" isSmall aria-expanded={part === 'details'} onClick={() => open('details')}>
          Details
        </Button>
        {isEditable(asked.subject) && (
          <Button kind="quiet" isSmall aria-expanded={part === 'edit'} onClick={() => open('edit')}>
            Edit
          </Button>
        )}
        {own === undefined && (
          <Button kind="quiet" isSmall aria-expanded={part === 'reason'} onClick={() => open('reason')}>
            Deny with a reason
          </Button>
        )}
      </div>
      {part === 'details' && <Details view={view} />}
      {part === 'edit' && <Edit subject={asked.subject} isBusy={isBusy} onSend={(edited) => answer(yesAnswer(asked, edited))} />}
      {part === 'reason' && (
        <DenyWithReason isBusy={isBusy} onDeny={(feedback) => answer({ kind: 'deny', ...(feedback !== '' && { feedback }) })} />
      )}
    </div>
  )
}

/** Two lines: what it is about, and why it is asked. Warnings are always shown, commands and addresses are never folded. */
const shownLines = ({ summary }: QuestionView): QuestionView['lines'] =>
  summary.lines.filter(({ kind }) => kind !== 'title' && kind !== 'hidden')

/** From the moment the card is on the page. */
function useQuietTime(shownAt: number): { isReady(): boolean; when: 'quiet' | 'ready' } {
  const mounted = useRef(Date.now())
  const [when, setWhen] = useState<'quiet' | 'ready'>('quiet')
  useEffect(() => {
    const timer = setTimeout(() => setWhen('ready'), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  return { isReady: () => !isQuiet(Math.max(shownAt, mounted.current), Date.now()), when }
}
