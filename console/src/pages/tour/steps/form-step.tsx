/** A tool asks the person with a form while it runs. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/code-block.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { prettyText } from '../../../state/format.ts'
import { resultText } from '../../../state/tour.ts'
import css from '../tour.module.css'
import { Outcome } from './outcome.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useKeptOperation } from './use-kept-operation.ts'

export function FormStep({ onDone }: StepProps): ReactNode {
  const run = useKeptOperation('form')
  const isEnded = run.operation !== undefined && !run.isRunning
  useHighlight(run.isRunning ? '[data-answer="allow"], [data-answer="open"]' : undefined)
  useEffect(() => {
    if (isEnded) onDone()
  }, [isEnded, onDone])
  const start = (): void =>
    void run.start('POST /api/tools/call', {
      body: { tool: { server: 'deploy', name: 'deploy' }, args: { service: 'api', version: '1.4.0', environment: 'staging' } },
    })
  const result = run.operation?.result as Parameters<typeof resultText>[0]
  return (
    <div className={css.part}>
      <Button kind={isEnded ? 'plain' : 'main'} isBusy={run.isRunning} onClick={start} {...(!run.operation && { 'data-highlight': '' })}>
        Deploy version 1.4.0 to staging
      </Button>
      <Outcome run={run} done={<CodeBlock text={foreignText(prettyText(resultText(result)))} label="Result of deploy" isForeign />} />
      {isEnded && (
        <p>
          Tools can also show their result as a view, in a frame that cannot reach this page. Call{' '}
          <Link to="/tools" search={{ tool: 'deploy/plan' }}>
            the tool plan
          </Link>{' '}
          to see one. The page Home leads back to this step.
        </p>
      )}
    </div>
  )
}
