/** A server asks the model of the person, within a budget. */

import { type ReactNode, useEffect } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/code-block.tsx'
import { useRoute } from '../../../hooks/use-console.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { counted, prettyText } from '../../../state/format.ts'
import { resultText } from '../../../state/tour.ts'
import css from '../tour.module.css'
import { Outcome } from './outcome.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useKeptOperation } from './use-kept-operation.ts'

export function ModelStep({ onDone }: StepProps): ReactNode {
  const run = useKeptOperation('model')
  const notes = useRoute('GET /api/servers/:id', { params: { id: 'notes' } })
  const isEnded = run.operation !== undefined && !run.isRunning
  useHighlight(run.isRunning ? '[data-answer="allow"], [data-answer="open"]' : undefined)
  const { refetch } = notes
  useEffect(() => {
    if (!isEnded) return
    onDone()
    void refetch()
  }, [isEnded, onDone, refetch])
  const budget = notes.data?.server.budget
  return (
    <div className={css.part}>
      <Button
        kind={isEnded ? 'plain' : 'main'}
        isBusy={run.isRunning}
        onClick={() => void run.start('POST /api/tools/call', { body: { tool: { server: 'notes', name: 'summarise' }, args: {} } })}
        {...(!run.operation && { 'data-highlight': '' })}
      >
        Let notes summarise your notes
      </Button>
      <Outcome
        run={run}
        done={
          <CodeBlock
            text={foreignText(prettyText(resultText(run.operation?.result as Parameters<typeof resultText>[0])))}
            label="Result of summarise"
            isForeign
          />
        }
      />
      {budget && (
        <p>
          notes has {counted(budget.requestsLeft, 'request')} left this hour, and {counted(budget.tokensLeft, 'token')} today.
        </p>
      )}
    </div>
  )
}
