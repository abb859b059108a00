/** A question that can be answered: its text, its buttons below all of it, and what the person opened. */

import { memo, type ReactNode, useMemo, useRef, useState } from 'react'
import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { Menu } from '../components/menu.tsx'
import { useConsole, useOperation } from '../hooks/use-console.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { hasMoreAnswers, menuAnswers } from '../state/lasting-answers.ts'
import { hiddenText, isOver } from '../state/question-room.ts'
import { CHOOSE_TEXT, ENABLE_HINT, isStart, noText, otherText, yesAnswer, yesText } from '../state/question-words.ts'
import { withQuestionView } from '../state/reduce.ts'
import { type ShownQuestion, shownQuestion } from '../state/shown-question.ts'
import { AnswerBelow } from './answer-below.tsx'
import { AnswerButton, QuietCard } from './answer-button.tsx'
import { ChooseLasting } from './choose-lasting.tsx'
import { DenyWithReason } from './deny-with-reason.tsx'
import { Details } from './details.tsx'
import { Edit, isEditable } from './edit.tsx'
import css from './question-card.module.css'
import { QuestionLines } from './question-lines.tsx'
import { Call } from './subjects/call.tsx'
import { ChangedItems, Choice, SkillItems } from './subjects/offering.tsx'
import { OwnAnswer } from './subjects/own-answer.tsx'
import { useAnswer } from './use-answer.ts'
import { useQuietTime } from './use-quiet-time.ts'

type Part = 'details' | 'edit' | 'lasting' | 'reason'

export const OpenQuestion = memo(function OpenQuestion({ question, view }: { question: WaitingQuestion; view: QuestionView }): ReactNode {
  const { question: asked } = view
  const [part, setPart] = useState<Part>()
  const [opened, setOpened] = useState<{ at: number; portion: number }>()
  const root = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const buttons = useRef<HTMLDivElement>(null)
  const shown = useShown(view, opened)
  // The second click of a double click on "Show everything" is no answer.
  const since = Math.max(question.shownAt, opened?.at ?? 0)
  const { isReady, isQuiet } = useQuietTime(since, shown.messages.length > 0 ? root : buttons)
  const fetchWhole = useWholeQuestion(view)
  const { send, fault } = useAnswer(question)
  const isFolded = shown.isShort || isOver(shown.room)
  const isBusy = question.isAnswering === true
  // Clicks in the quiet time are ignored; the buttons stay where they are and keep the focus.
  const answer = (given: GivenAnswer): boolean => {
    if (isQuiet || !isReady()) return false
    send(given)
    return true
  }
  const showMore = (): void => {
    setOpened({ at: Date.now(), portion: shown.isShort ? 1 : 2 * (opened?.portion ?? 1) })
    // The button moves below the text. A key must not press it there, out of sight.
    body.current?.focus({ preventScroll: true })
  }
  const allow = (given: GivenAnswer): void => {
    if (isFolded) showMore()
    else answer(given)
  }
  const open = (next: Part): void => {
    if (next === 'details') fetchWhole()
    setPart(part === next ? undefined : next)
  }
  const own = OwnAnswer({
    subject: asked.subject,
    messages: shown.messages,
    onMore: isFolded ? showMore : undefined,
    isBusy,
    onSend: (edited) => answer(yesAnswer(asked, edited)),
    onDeny: () => answer({ kind: 'deny' }),
  })
  const others = menuAnswers(asked)
  const { isChoosing, choose } = useChoosing(asked.server.id, isReady, () => answer(yesAnswer(asked)))
  const isStarting = isStart(asked.subject)
  const lasting = others.length > 0 && (
    <Menu
      label={otherText(asked.subject)}
      disabled={isBusy || isFolded}
      {...(isStarting && { kind: 'quiet', isSmall: true })}
      actions={[
        ...others.map(({ label, answer: given }) => ({ label, isDisabled: isQuiet, onSelect: () => allow(given) })),
        ...(hasMoreAnswers(asked) ? [{ label: 'Other arguments …', onSelect: () => setPart('lasting') }] : []),
      ]}
    />
  )
  return (
    <QuietCard value={isQuiet}>
      <div ref={root} className={css.part} data-quiet={isQuiet ? '' : undefined}>
        <div ref={body} tabIndex={-1} className={css.body}>
          {asked.subject.kind === 'approve' && <SkillItems server={asked.server.id} items={asked.subject.items} />}
          <Body view={view} shown={shown} />
          {asked.subject.kind === 'approve' && (
            <Choice subject={asked.subject} onChoose={(edited) => allow(yesAnswer(asked, edited))} isBusy={isBusy} />
          )}
        </div>
        {own === undefined && (
          <AnswerBelow buttons={buttons} noText={noText(asked.subject)} isBusy={isBusy} onDeny={() => answer({ kind: 'deny' })} />
        )}
        {own ?? (
          <div ref={buttons} className={css.buttons}>
            <AnswerButton kind="main" data-answer={isFolded ? 'open' : 'allow'} isBusy={isBusy} onClick={() => allow(yesAnswer(asked))}>
              {isFolded ? (shown.isShort ? 'Show everything' : 'Show more') : yesText(asked.subject)}
            </AnswerButton>
            {isStarting && (
              <AnswerButton isBusy={isBusy || isChoosing} disabled={isFolded} onClick={choose}>
                {CHOOSE_TEXT}
              </AnswerButton>
            )}
            {!isStarting && lasting}
            <AnswerButton data-answer="deny" isBusy={isBusy} onClick={() => answer({ kind: 'deny' })}>
              {noText(asked.subject)}
            </AnswerButton>
          </div>
        )}
        {isFolded && <p className={css.hint}>{foldedText(view, shown)}</p>}
        {isStarting && !isFolded && <p className={css.hint}>{ENABLE_HINT}</p>}
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
        {part === 'lasting' && <ChooseLasting question={asked} isBusy={isBusy} onAllow={allow} />}
        {part === 'reason' && (
          <DenyWithReason isBusy={isBusy} onDeny={(feedback) => answer({ kind: 'deny', ...(feedback !== '' && { feedback }) })} />
        )}
      </div>
    </QuietCard>
  )
})

/** Draws the question as it first arrived. The details fetch binary data later, and an answer does not need that. */
function useShown(view: QuestionView, opened: { portion: number } | undefined): ShownQuestion {
  const [first] = useState(view)
  const isOpened = opened !== undefined
  const portion = opened?.portion ?? 1
  return useMemo(() => shownQuestion(first, isOpened, portion), [first, isOpened, portion])
}

/** Everything above the buttons. */
const Body = memo(function Body({ view, shown }: { view: QuestionView; shown: ShownQuestion }): ReactNode {
  const { subject } = view.question
  return (
    <>
      {subject.kind === 'call' && <Call view={view} subject={subject} hasArguments={shown.hasArguments} />}
      <ChangedItems items={shown.items} />
      {shown.lines.length > 0 && <QuestionLines lines={shown.lines} isCompact />}
    </>
  )
})

function foldedText({ summary }: QuestionView, { isShort, room }: ShownQuestion): string {
  const what = isShort ? `${summary.folded.toLocaleString('en')} characters are folded.` : `Not shown yet: ${hiddenText(room)}.`
  return `${what} Read them before you allow it.`
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
