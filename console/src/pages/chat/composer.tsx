/** Where you write, choose the model, send and stop. */

import { type KeyboardEvent, type ReactNode, useState } from 'react'
import type { ModelView } from '../../../../src/console/api.ts'
import { CHAT_DRAFT, draftOf, keepDraft } from '../../catalog/drafts.ts'
import { Button } from '../../components/button.tsx'
import { Field, Select, TextArea } from '../../components/field.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import css from './page.module.css'

export function Composer({
  initial,
  models,
  model,
  onModel,
  isRunning,
  onSend,
  onStop,
}: {
  /** From a link. */
  initial: string | undefined
  models: readonly ModelView[]
  model: string | undefined
  onModel(id: string): void
  isRunning: boolean
  onSend(message: string): void
  onStop(): void
}): ReactNode {
  const [text, setShown] = useState(() => initial ?? textOf(draftOf(CHAT_DRAFT).value))
  const setText = (next: string): void => {
    setShown(next)
    keepDraft(CHAT_DRAFT, { value: next })
  }
  const send = (): void => {
    if (text.trim() === '' || isRunning) return
    onSend(text)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      className={css.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Field label="Message" isLabelHidden>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            placeholder="Message (Enter sends, Shift Enter starts a new line)"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
        )}
      </Field>
      <div className={css.composerBottom}>
        <Field label="Model" isLabelHidden>
          {(control) => (
            <Select
              {...control}
              value={model ?? ''}
              choices={models.map(({ id, label, kind }) => ({ value: id, label: KINDS[kind] ?? foreignName(label) }))}
              onValue={onModel}
            />
          )}
        </Field>
        {isRunning ? (
          <Button kind="danger" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="main" type="submit" disabled={text.trim() === ''}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const KINDS: Readonly<Partial<Record<ModelView['kind'], string>>> = {
  scripted: 'Scripted (no language model)',
  person: 'I answer (you are the model)',
}
