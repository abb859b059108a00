/** Chooses which arguments an answer covers, and then for how long, where a menu of all answers would be too long. */

import { type ReactNode, useState } from 'react'
import type { GivenAnswer, QuestionView } from '../../../src/console/api.ts'
import { SCOPE_WORDS, widthText } from '../../../src/host/consent/ask/choices.ts'
import { patternText } from '../../../src/host/consent/ask/pattern-text.ts'
import { Field, Select } from '../components/field.tsx'
import { foreignText } from '../state/foreign-text.ts'
import { lastingAnswer, type Scope, sortedWidths, timesOf, type Width } from '../state/lasting-answers.ts'
import { AnswerButton } from './answer-button.tsx'
import css from './question-card.module.css'

export interface ChooseLastingProps {
  question: QuestionView['question']
  isBusy: boolean
  onAllow(answer: GivenAnswer): void
}

export function ChooseLasting({ question, isBusy, onAllow }: ChooseLastingProps): ReactNode {
  const { subject } = question
  const widths = sortedWidths(question)
  const [width, setWidth] = useState<Width>(widths[0] ?? 'exact')
  const [wanted, setScope] = useState<Scope>()
  const times = timesOf(question, width)
  const scope = times.find((each) => each === wanted) ?? times[0]
  if (scope === undefined) return null
  const { label, answer } = lastingAnswer(question, scope, width)
  return (
    <div className={css.part}>
      <Field label="Which calls">
        {(control) => (
          <Select<Width>
            {...control}
            value={width}
            choices={widths.map((value) => ({ value, label: widthText(subject, value) }))}
            onValue={setWidth}
          />
        )}
      </Field>
      {width === 'pattern' && subject.kind === 'call' && (
        <div>
          <p className={css.hint}>Similar arguments are those where</p>
          <pre className={css.arguments}>{foreignText(patternText(subject.pattern))}</pre>
        </div>
      )}
      <Field label="For how long">
        {(control) => (
          <Select<Scope>
            {...control}
            value={scope}
            choices={times.map((value) => ({ value, label: SCOPE_WORDS[value] }))}
            onValue={setScope}
          />
        )}
      </Field>
      <p className={css.hint}>{label}.</p>
      <div className={css.buttons}>
        <AnswerButton kind="main" isBusy={isBusy} onClick={() => onAllow(answer)}>
          Allow this
        </AnswerButton>
      </div>
    </div>
  )
}
