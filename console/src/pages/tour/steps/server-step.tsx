/** A stranger is added and used once. */

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/code-block.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { useAction, useRoute } from '../../../hooks/use-console.tsx'
import { foreignText } from '../../../state/foreign-text.ts'
import { prettyText } from '../../../state/format.ts'
import { resultText } from '../../../state/tour.ts'
import css from '../tour.module.css'
import { Outcome } from './outcome.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useKeptOperation } from './use-kept-operation.ts'

export function ServerStep({ onDone }: StepProps): ReactNode {
  const tour = useRoute('GET /api/tour')
  const add = useAction('POST /api/tour/rogue', { stale: ['GET /api/tour'] })
  const servers = useRoute('GET /api/servers').data?.servers
  const enable = useKeptOperation('enable')
  const call = useKeptOperation('forecast')
  const [added, setAdded] = useState<string>()
  const id = tour.data?.rogue?.server ?? added ?? 'rogue'
  useHighlight(enable.isRunning || call.isRunning ? '[data-answer="allow"], [data-answer="open"]' : undefined)
  const isCalled = call.operation?.state === 'done'
  useEffect(() => {
    if (isCalled) onDone()
  }, [isCalled, onDone])
  const start = async (): Promise<void> => {
    const server = (await add.mutateAsync({}).catch(() => undefined))?.rogue?.server
    if (server === undefined) return
    setAdded(server)
    await enable.start('POST /api/servers/:id/enable', { params: { id: server }, body: {} })
  }
  // Its tools can be called when the operation is over, a moment after the server is ready.
  const isReady = !enable.isRunning && servers?.find((each) => each.id === id)?.health.state === 'ready'
  if (tour.data && !tour.data.hasRogue) {
    return <p>This console was opened without the sample server for this step. Skip it: npm start has it.</p>
  }
  return (
    <div className={css.part}>
      <div className={css.buttons}>
        <Button
          kind={isReady ? 'plain' : 'main'}
          isBusy={add.isPending || enable.isRunning}
          onClick={() => void start()}
          {...(!isReady && !enable.isRunning && { 'data-highlight': '' })}
        >
          Add the weather server
        </Button>
        <Button
          kind={isReady ? 'main' : 'plain'}
          disabled={!isReady}
          isBusy={call.isRunning}
          onClick={() =>
            void call.start('POST /api/tools/call', { body: { tool: { server: id, name: 'forecast' }, args: { city: 'Paris' } } })
          }
          {...(isReady && !call.operation && { 'data-highlight': '' })}
        >
          Ask for the weather of Paris
        </Button>
      </div>
      {add.error && <ErrorState title="The weather server could not be added" error={add.error} />}
      <Outcome run={enable} />
      <Outcome
        run={call}
        done={
          <CodeBlock
            text={foreignText(prettyText(resultText(call.operation?.result as Parameters<typeof resultText>[0])))}
            label="Result of forecast"
            isForeign
          />
        }
      />
    </div>
  )
}
