/** Questions whose answer the person writes: a form, an answer in place of the model, a page to visit. Undefined for the others. */

import { type ReactNode, useState } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { UrlView } from '../../components/safe-link.tsx'
import { focusFault } from '../../forms/focus-fault.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useSchemaForm } from '../../forms/use-schema-form.ts'
import { foreignText } from '../../state/foreign-text.ts'
import type { ShownMessage } from '../../state/shown-question.ts'
import { AnswerButton, useIsQuietCard } from '../answer-button.tsx'
import css from '../question-card.module.css'
import { Messages } from './messages.tsx'

type Subject = QuestionView['question']['subject']

export interface OwnAnswerProps<Kind extends Subject['kind'] = Subject['kind']> {
  subject: Extract<Subject, { kind: Kind }>
  messages: readonly ShownMessage[]
  /** Draws the rest of the messages. Undefined: all of them are drawn, and an answer can be sent. */
  onMore: (() => void) | undefined
  isBusy: boolean
  /** Returns whether the answer counts: not in the quiet time. @param edited undefined: a plain yes */
  onSend(edited?: unknown): boolean
  onDeny(): void
}

export function OwnAnswer(props: OwnAnswerProps): ReactNode | undefined {
  const { subject } = props
  if (subject.kind === 'form') return <FormAnswer {...props} subject={subject} />
  if (subject.kind === 'compose') return <ComposedAnswer {...props} subject={subject} />
  if (subject.kind === 'url') return <PageAnswer {...props} subject={subject} />
  return undefined
}

function FormAnswer({ subject, messages, onMore, isBusy, onSend, onDeny }: OwnAnswerProps<'form'>): ReactNode {
  const form = useSchemaForm(subject.schema as unknown as Readonly<Record<string, unknown>>, subject.defaults)
  return (
    <form
      className={css.part}
      onSubmit={(event) => {
        event.preventDefault()
        if (onMore) onMore()
        else if (form.check()) onSend(form.value ?? {})
        else focusFault(event.currentTarget)
      }}
    >
      <Messages messages={messages} isOurs={subject.ours !== undefined} />
      {subject.warnings.map((text) => (
        <p key={text} className={css.warning}>
          <span aria-hidden="true">▲ </span>
          {foreignText(text)}
        </p>
      ))}
      <div className={subject.ours ? undefined : css.theirs}>
        <SchemaForm form={form} isPlain {...(subject.ours && { hidden: subject.ours.hidden })} />
      </div>
      {!subject.ours && <p className={css.hint}>The server receives what you enter. Do not enter a password that it does not need.</p>}
      <div className={css.buttons}>
        <SendButton onMore={onMore} isBusy={isBusy} />
        <AnswerButton isBusy={isBusy} onClick={onDeny}>
          Not now
        </AnswerButton>
      </div>
    </form>
  )
}

/** Shows the rest first, if there is one. */
const SendButton = ({ onMore, isBusy, isEmpty = false }: { onMore: unknown; isBusy: boolean; isEmpty?: boolean }): ReactNode => (
  <AnswerButton type="submit" kind="main" data-answer={onMore ? 'open' : 'allow'} isBusy={isBusy} disabled={isEmpty && !onMore}>
    {onMore ? 'Show everything' : 'Send'}
  </AnswerButton>
)

function ComposedAnswer({ messages, onMore, isBusy, onSend, onDeny }: OwnAnswerProps<'compose'>): ReactNode {
  const [text, setText] = useState('')
  return (
    <form
      className={css.part}
      onSubmit={(event) => {
        event.preventDefault()
        if (onMore) onMore()
        else onSend(text)
      }}
    >
      <Messages messages={messages} />
      <Field label="Your answer" help="There is no model: you answer in its place. The server receives this text.">
        {(control) => <TextArea {...control} rows={3} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className={css.buttons}>
        <SendButton onMore={onMore} isBusy={isBusy} isEmpty={text === ''} />
        <AnswerButton isBusy={isBusy} onClick={onDeny}>
          Not now
        </AnswerButton>
      </div>
    </form>
  )
}

function PageAnswer({ subject, messages, onMore, isBusy, onSend, onDeny }: OwnAnswerProps<'url'>): ReactNode {
  const isQuiet = useIsQuietCard()
  return (
    <div className={css.part}>
      <Messages messages={messages} />
      <UrlView url={subject.url} />
      {subject.url.warnings.includes('punycode') && <Badge tone="danger">The name can look like another</Badge>}
      <div className={css.buttons}>
        {onMore ? (
          <Button kind="main" data-answer="open" onClick={onMore}>
            Show everything
          </Button>
        ) : (
          <>
            <a
              className={buttonClass({ kind: 'main' })}
              href={subject.url.href}
              target="_blank"
              rel="noopener noreferrer"
              aria-disabled={isBusy || isQuiet}
              onClick={(event) => onSend() || event.preventDefault()}
            >
              Open the page
            </a>
            <AnswerButton isBusy={isBusy} onClick={() => onSend()}>
              I open it myself
            </AnswerButton>
          </>
        )}
        <AnswerButton isBusy={isBusy} onClick={onDeny}>
          Not now
        </AnswerButton>
      </div>
    </div>
  )
}
