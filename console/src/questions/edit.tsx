/** Edits the subject of a question before you allow it: arguments, a request to the model, an answer of the model. */

import { type ReactNode, useState } from 'react'
import type { QuestionView } from '../../../src/console/api.ts'
import { Field, TextArea } from '../components/field.tsx'
import { focusFault } from '../forms/focus-fault.ts'
import { SchemaForm } from '../forms/schema-form.tsx'
import { useSchemaForm } from '../forms/use-schema-form.ts'
import { AnswerButton } from './answer-button.tsx'
import css from './question-card.module.css'

type Subject = QuestionView['question']['subject']

export const isEditable = ({ kind }: Subject): boolean => kind === 'call' || kind === 'sample' || kind === 'sampled'

interface EditProps {
  subject: Subject
  isBusy: boolean
  onSend(edited: unknown): void
}

export function Edit({ subject, isBusy, onSend }: EditProps): ReactNode {
  if (subject.kind === 'call') return <EditArguments subject={subject} isBusy={isBusy} onSend={onSend} />
  if (subject.kind === 'sample') return <EditJson value={subject.params} isBusy={isBusy} onSend={onSend} />
  if (subject.kind === 'sampled') return <EditJson value={subject.result} isBusy={isBusy} onSend={onSend} />
  return null
}

function EditArguments({ subject, isBusy, onSend }: EditProps & { subject: Extract<Subject, { kind: 'call' }> }): ReactNode {
  const form = useSchemaForm(subject.tool.inputSchema as Readonly<Record<string, unknown>>, subject.args)
  return (
    <form
      className={css.part}
      onSubmit={(event) => {
        event.preventDefault()
        if (form.check()) onSend(form.value ?? {})
        else focusFault(event.currentTarget)
      }}
    >
      <SchemaForm form={form} />
      <div className={css.buttons}>
        <AnswerButton type="submit" kind="main" isBusy={isBusy}>
          Allow once with these arguments
        </AnswerButton>
      </div>
    </form>
  )
}

function EditJson({ value, isBusy, onSend }: { value: unknown; isBusy: boolean; onSend(edited: unknown): void }): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(value, undefined, 2))
  const [fault, setFault] = useState<string>()
  const submit = (): void => {
    try {
      onSend(JSON.parse(text))
    } catch (error) {
      setFault(`This is not JSON: ${(error as Error).message}`)
    }
  }
  return (
    <form
      className={css.part}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Field label="JSON" fault={fault}>
        {(control) => <TextArea {...control} isCode rows={10} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className={css.buttons}>
        <AnswerButton type="submit" kind="main" isBusy={isBusy}>
          Allow once with this text
        </AnswerButton>
      </div>
    </form>
  )
}
