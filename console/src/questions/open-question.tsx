/** A question that can be answered: its summary, its buttons, and what the person opened. */

import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import { useConsole, useOperation } from '../hooks/use-console.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import {
  CHOOSE_TEXT,
  cardLines,
  isQuiet,
  isStart,
  mustOpen,
  noText,
  otherChoices,
  otherText,
  QUIET_MS,
  yesAnswer,
  yesText,
} from '../state/question-words.ts'
import { withQuestionView } from '../state/reduce.ts'
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
  const [openedAt, setOpenedAt] = useState<number>()
  const { isReady, when } = useQuietTime(question.shownAt)
  const fetchWhole = useWholeQuestion(view)
  const { send, fault } = useAnswer(question)
  const isFolded = mustOpen(view) && openedAt === undefined
  const isBusy = question.isAnswering === true
  // Clicks in the quiet time are ignored; the buttons stay where they are and keep the focus.
  const answer = (given: GivenAnswer): boolean => {
    // The second click of a double click on "Show everything" is no answer.
    if (!isReady() || (openedAt !== undefined && isQuiet(openedAt, Date.now()))) return false
    send(given)
    return true
  }
  const open = (next: Part): void => {
    if (next === 'details') {
      setOpenedAt(openedAt ?? Date.now())
      fetchWhole()
    }
    setPart(part === next ? undefined : next)
  }
  const own = OwnAnswer({
    subject: asked.subject,
    isBusy,
    onSend: (edited) => answer(yesAnswer(asked, edited)),
    onDeny: () => answer({ kind: 'deny' }),
  })
  const others = otherChoices(asked)
  const { isChoosing, choose } = useChoosing(asked.server.id, isReady, () => answer(yesAnswer(asked)))
  const allow = (given: GivenAnswer): void => {
    if (isFolded) open('details')
    else answer(given)
  }
  const isStarting = isStart(asked.subject)
  const lasting = others.length > 0 && (
    <Menu
      label={otherText(asked.subject)}
      disabled={isBusy || isFolded}
      {...(isStarting && { kind: 'quiet', isSmall: true })}
      actions={others.map(({ label, answer: given }) => ({ label, onSelect: () => allow(given) }))}
    />
  )
  return (
    <div className={css.part}>
      <SubjectView view={view} onChoose={(edited) => allow(yesAnswer(asked, edited))} isBusy={isBusy} />
      {own === undefined && <QuestionLines lines={cardLines(view)} isCompact />}
      {own ?? (
        <div className={css.buttons} data-quiet={when === 'quiet' ? '' : undefined}>
          <Button
            kind="main"
            data-answer={isFolded ? 'open' : 'allow'}
            isBusy={isBusy}
            onClick={() => (isFolded ? open('details') : answer(yesAnswer(asked)))}
          >
            {isFolded ? 'Show everything' : yesText(asked.subject)}
          </Button>
          {isStarting && (
            <Button isBusy={isBusy || isChoosing} disabled={isFolded} onClick={choose}>
              {CHOOSE_TEXT}
            </Button>
          )}
          {!isStarting && lasting}
          <Button data-answer="deny" isBusy={isBusy} onClick={() => answer({ kind: 'deny' })}>
            {noText(asked.subject)}
          </Button>
        </div>
      )}
      {isFolded && <p className={css.hint}>{summary.folded.toLocaleString('en')} characters are folded. Read them before you allow it.</p>}
      {fault !== undefined && (
        <p className={css.fault} role="alert">
          {fault}
        </p>
      )}
      <div className={css.more}>
        <Button kind="quiet" isSmall aria-expanded={part === 'details'} onClick={() => open('details')}>
          Details
        </Button>
        {isStarting && lasting}
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

/** A list of questions leaves long parts out. They are fetched when the person opens the details. */
function useWholeQuestion({ question, folded }: QuestionView): () => void {
  const { api, store } = useConsole()
  return () => {
    if (folded === 0) return
    api.call('GET /api/questions/:id', { params: { id: question.id } }).then(
      (whole) => store.update((state) => withQuestionView(state, whole, Date.now())),
      () => {},
    )
  }
}

/** Says yes to the start. Then the server's first offering is asked about, so that the person can choose from it. */
function useChoosing(server: string, isReady: () => boolean, onYes: () => void): { isChoosing: boolean; choose(): void } {
  const { isRunning, start } = useOperation()
  const choose = (): void => {
    if (!isReady()) return
    // First the wish, then the yes: the server asks only if it knows the wish when it starts.
    void start('POST /api/servers/:id/enable', { params: { id: server }, body: { choose: true } }).then((started) => started && onYes())
  }
  return { isChoosing: isRunning, choose }
}

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
