/** A no with words: the model reads them. */

import { type ReactNode, useState } from 'react'
import { Field, TextArea } from '../components/field.tsx'
import { AnswerButton } from './answer-button.tsx'
import css from './question-card.module.css'

export function DenyWithReason({ isBusy, onDeny }: { isBusy: boolean; onDeny(feedback: string): void }): ReactNode {
  const [text, setText] = useState('')
  return (
    <form
      className={css.part}
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(text.trim())
      }}
    >
      <Field label="What to do instead" help="If a model asked, it reads this.">
        {(control) => <TextArea {...control} rows={2} maxLength={10_000} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className={css.buttons}>
        <AnswerButton type="submit" kind="danger" isBusy={isBusy}>
          Deny
        </AnswerButton>
      </div>
    </form>
  )
}
