/** You are the model: what it would see, and your answer as text or as a call of a tool. */

import { type ReactNode, useState } from 'react'
import type { ModelTurnView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Field, Select, TextArea } from '../../components/field.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Card } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { lastText } from '../../state/chat.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { shortened } from '../../state/format.ts'
import css from './page.module.css'

export function ModelTurn({ turn }: { turn: ModelTurnView }): ReactNode {
  const [text, setText] = useState('')
  const [tool, setTool] = useState('')
  const [args, setArgs] = useState('{}')
  const answer = useAction('POST /api/model-turns/:id/answer', { stale: ['GET /api/model-turns'] })
  const tools = turn.request.tools ?? []
  const parsed = parseArgs(args)
  const send = (): void =>
    answer.mutate({
      params: { id: turn.id },
      body: { ...(text !== '' && { text }), ...(tool !== '' && parsed && { calls: [{ name: tool, args: parsed }] }) },
    })
  return (
    <Card label="You are the model">
      <strong>You are the model. What do you answer?</strong>
      <p className={css.muted}>{foreignText(shortened(lastText(turn), 400))}</p>
      <Fold label="Everything that a model would see">
        <JsonTree value={turn.request} label="Request" openLevels={1} />
      </Fold>
      <Field label="Text">
        {(control) => <TextArea {...control} rows={2} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <div className={css.turnCall}>
        <Field label="Call a tool">
          {(control) => (
            <Select
              {...control}
              value={tool}
              choices={[{ value: '', label: 'No call' }, ...tools.map(({ name }) => ({ value: name, label: foreignName(name) }))]}
              onValue={setTool}
            />
          )}
        </Field>
        {tool !== '' && (
          <Field label="Arguments as JSON" fault={parsed ? undefined : 'Expected a JSON object'}>
            {(control) => <TextArea {...control} isCode rows={3} value={args} onChange={(event) => setArgs(event.target.value)} />}
          </Field>
        )}
      </div>
      {answer.isError && <ErrorState title="The answer was not taken" error={answer.error} />}
      <div>
        <Button kind="main" isBusy={answer.isPending} disabled={(text === '' && tool === '') || (tool !== '' && !parsed)} onClick={send}>
          Answer
        </Button>
      </div>
    </Card>
  )
}

function parseArgs(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
