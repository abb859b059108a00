/** Several servers at once: each with its exact command or address, and one answer for those that are chosen. */

import { type ReactNode, useRef, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Checkbox } from '../components/field.tsx'
import { useConsole } from '../hooks/use-console.tsx'
import { foreignName } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import { cardLines, yesAnswer } from '../state/question-words.ts'
import { withAnswering } from '../state/reduce.ts'
import type { StartQuestion } from '../state/start-group.ts'
import css from './question-card.module.css'
import { QuestionLines } from './question-lines.tsx'
import { useQuietTime } from './use-quiet-time.ts'

export function StartTogether({ questions, onOneByOne }: { questions: readonly StartQuestion[]; onOneByOne(): void }): ReactNode {
  const { api, store } = useConsole()
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [fault, setFault] = useState<string>()
  const buttons = useRef<HTMLDivElement>(null)
  const { isReady, isQuiet } = useQuietTime(Math.max(...questions.map(({ shownAt }) => shownAt)), buttons)
  const chosen = questions.filter(({ id }) => !left.has(id))
  const isBusy = questions.some(({ isAnswering }) => isAnswering)
  const toggle = (id: string, isOn: boolean): void => setLeft(new Set(isOn ? [...left].filter((each) => each !== id) : [...left, id]))
  const answer = async (given: readonly StartQuestion[], isYes: boolean): Promise<void> => {
    if (!isReady()) return
    setFault(undefined)
    for (const { id, view } of given) {
      store.update((state) => withAnswering(state, id, true))
      const body = isYes ? yesAnswer(view.question) : ({ kind: 'deny' } as const)
      await api.call('POST /api/questions/:id/answer', { params: { id }, body }).catch((error: Error) => {
        store.update((state) => withAnswering(state, id, false))
        setFault(error.message)
      })
    }
  }
  return (
    <article className={css.card} aria-label={`Start ${counted(questions.length, 'server')}?`}>
      <h2 className={css.title}>Start {counted(questions.length, 'server')}?</h2>
      {questions.map(({ id, server, view }) => (
        <div key={id} className={css.item}>
          <Checkbox label={foreignName(server)} checked={!left.has(id)} onChange={(event) => toggle(id, event.target.checked)} />
          <QuestionLines lines={cardLines(view)} isCompact />
        </div>
      ))}
      <div ref={buttons} className={css.buttons} data-quiet={isQuiet ? '' : undefined}>
        <Button kind="main" isBusy={isBusy} isQuiet={isQuiet} disabled={chosen.length === 0} onClick={() => void answer(chosen, true)}>
          Start {counted(chosen.length, 'server')}
        </Button>
        <Button isBusy={isBusy} isQuiet={isQuiet} onClick={() => void answer(questions, false)}>
          None of them
        </Button>
        <Button kind="quiet" onClick={onOneByOne}>
          One by one
        </Button>
      </div>
      {fault !== undefined && (
        <p className={css.fault} role="alert">
          {fault}
        </p>
      )}
    </article>
  )
}
