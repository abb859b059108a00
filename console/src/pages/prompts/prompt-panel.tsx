/** One prompt: its arguments, and the messages that the server makes of them. */

import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo } from 'react'
import type { GetPromptResult, Prompt } from '../../../../src/client/index.ts'
import type { EntryView } from '../../../../src/console/api.ts'
import css from '../../catalog/catalog.module.css'
import { CHAT_DRAFT, draftOf, keepDraft } from '../../catalog/drafts.ts'
import { LinkNotice } from '../../catalog/link-notice.tsx'
import { PanelHead } from '../../catalog/panel-head.tsx'
import { PastCalls } from '../../catalog/past-calls.tsx'
import { RunBar } from '../../catalog/run-bar.tsx'
import { useResultInView } from '../../catalog/use-panel.ts'
import { useSuggest } from '../../catalog/use-suggest.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Fold } from '../../components/fold.tsx'
import { focusFault } from '../../forms/focus-fault.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useSchemaForm } from '../../forms/use-schema-form.ts'
import { saveText } from '../../hooks/save-text.ts'
import { useOperation } from '../../hooks/use-console.tsx'
import { RawView } from '../../results/call-result.tsx'
import { MessagesView } from '../../results/messages-view.tsx'
import { OperationView } from '../../results/operation-view.tsx'
import { type Arguments, promptSchema, textArguments } from '../../state/arguments.ts'
import { foreignText } from '../../state/foreign-text.ts'
import { fileName, textOf } from '../../state/results.ts'

export interface PromptPanelProps {
  prompt: EntryView<Prompt>
  /** From the address. */
  args: Arguments | undefined
  argsFault: string | undefined
  /** Set if the address is a link from elsewhere: its arguments are used after a click. */
  onUseLink: (() => void) | undefined
}

export function PromptPanel({ prompt, args, argsFault, onUseLink }: PromptPanelProps): ReactNode {
  const { exposed, server, definition } = prompt
  const key = `prompt ${exposed}`
  const schema = useMemo(() => promptSchema(definition), [definition])
  const form = useSchemaForm(schema, (onUseLink ? undefined : args) ?? draftOf(key).value)
  const run = useOperation(draftOf(key).operation)
  const resultBox = useResultInView<HTMLElement>(run)
  const suggest = useSuggest(server, { type: 'ref/prompt', name: definition.name }, form.value)
  useEffect(() => keepDraft(key, { value: form.value }), [key, form.value])
  const start = async (): Promise<void> => {
    if (!form.check()) return focusFault()
    const started = await run.start('POST /api/prompts/get', { body: { prompt: exposed, args: textArguments(form.value) } })
    if (started) keepDraft(key, { operation: started.id })
  }
  return (
    <section className={css.panel} aria-label="Prompt">
      <PanelHead title={definition.title ?? definition.name} name={definition.name} server={server} description={definition.description} />
      {argsFault && <p className={css.fault}>{argsFault} The form starts empty.</p>}
      {args && onUseLink && <LinkNotice what="arguments" text={JSON.stringify(args, undefined, 2)} use="Use them" onUse={onUseLink} />}
      <div className={css.form}>
        <SchemaForm form={form} suggest={suggest} nothing="This prompt needs no input." />
      </div>
      <RunBar label="Show messages" run={run} onRun={() => void start()}>
        <PastCalls
          target={{ kind: 'prompt', server, name: definition.name }}
          args={textArguments(form.value)}
          onUse={(used) => form.reset(used)}
        />
      </RunBar>
      <section ref={resultBox} aria-label="Messages" aria-live="polite">
        <OperationView run={run}>
          {(result, ended) => <PromptResult result={result as GetPromptResult} ended={ended} name={definition.name} />}
        </OperationView>
      </section>
    </section>
  )
}

function PromptResult({ result, ended, name }: { result: GetPromptResult; ended: ReactNode; name: string }): ReactNode {
  const messages = Array.isArray(result.messages) ? result.messages : []
  const navigate = useNavigate()
  const text = useMemo(() => textOf(messages.flatMap(({ content }) => content)), [messages])
  // Not in the address: a browser remembers it.
  const openChat = (): void => {
    keepDraft(CHAT_DRAFT, { value: text })
    void navigate({ to: '/chat' })
  }
  return (
    <div className={css.stack}>
      <div className={css.resultHead}>
        <h3>Messages</h3>
        {ended}
      </div>
      {result.description && <p className={css.muted}>{foreignText(result.description)}</p>}
      <MessagesView messages={messages} name={name} />
      <div className={css.bar}>
        {text !== '' && (
          <Button kind="main" isSmall onClick={openChat}>
            Use in chat
          </Button>
        )}
        <CopyButton text={text} />
        <Button isSmall onClick={() => saveText(fileName(name, 'json'), `${JSON.stringify(result, undefined, 2)}\n`)}>
          Save
        </Button>
      </div>
      <Fold label="Raw">
        <RawView value={result} />
      </Fold>
    </div>
  )
}
