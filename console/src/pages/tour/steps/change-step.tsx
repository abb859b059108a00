/** The stranger has changed what it offers: the difference, and the refusal. */

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { useAction, useRoute } from '../../../hooks/use-console.tsx'
import { ChangedItems } from '../../../questions/subjects/offering.tsx'
import { counted } from '../../../state/format.ts'
import { createRoom, takeItems, worstFirst } from '../../../state/question-room.ts'
import css from '../tour.module.css'
import { Outcome } from './outcome.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useKeptOperation } from './use-kept-operation.ts'

export function ChangeStep({ onDone }: StepProps): ReactNode {
  const tour = useRoute('GET /api/tour')
  const turn = useAction('POST /api/tour/rogue/turn', { stale: ['GET /api/tour'] })
  const id = tour.data?.rogue?.server
  const server = useRoute('GET /api/servers/:id', { params: { id: id ?? '' } }, { isEnabled: id !== undefined })
  const call = useKeptOperation('anyway')
  useHighlight(call.isRunning ? '[data-answer="deny"]' : undefined)
  const isRefused = call.operation?.state === 'failed'
  const items = server.data?.server.review?.items ?? []
  const isApproved = useLasting(tour.data?.rogue?.hasTurned === true && server.data !== undefined && items.length === 0)
  const isDone = isRefused || isApproved
  useEffect(() => {
    if (isDone) onDone()
  }, [isDone, onDone])
  if (id === undefined) return <p>First add the weather server in step 4.</p>
  const changed = items.filter(({ difference }) => difference !== undefined)
  return (
    <div className={css.part}>
      {items.length === 0 && isApproved && (
        <p>
          You have approved the change already, so the tools are in use again, as the server offers them now. Without your yes they would
          stay out of use. The next step shows what stops them all the same.
        </p>
      )}
      {items.length === 0 && !isApproved && (
        <Button
          kind="main"
          isBusy={turn.isPending || tour.data?.rogue?.hasTurned === true}
          onClick={() => turn.mutate({})}
          data-highlight=""
        >
          Let the server change now
        </Button>
      )}
      {turn.error && <ErrorState title="The server could not be changed" error={turn.error} />}
      {items.length > 0 && (
        <>
          <p>
            {counted(items.length, 'definition')} {items.length === 1 ? 'is' : 'are'} out of use until you approve:{' '}
            {counted(changed.length, 'change')}, {counted(items.length - changed.length, 'new one')}.
          </p>
          <ChangedItems items={takeItems(createRoom(1), worstFirst(changed).slice(0, 1))} />
          <Button
            kind="main"
            isBusy={call.isRunning}
            onClick={() =>
              void call.start('POST /api/tools/call', { body: { tool: { server: id, name: 'forecast' }, args: { city: 'Paris' } } })
            }
            {...(!call.operation && { 'data-highlight': '' })}
          >
            Use the tool anyway
          </Button>
        </>
      )}
      <Outcome run={call} />
    </div>
  )
}

/** The host needs a moment to notice a change. */
const NOTICE_MS = 2_000

/** Whether something has been so for a while. */
function useLasting(isNow: boolean): boolean {
  const [isLasting, setLasting] = useState(false)
  useEffect(() => {
    setLasting(false)
    if (!isNow) return
    const timer = setTimeout(() => setLasting(true), NOTICE_MS)
    return () => clearTimeout(timer)
  }, [isNow])
  return isLasting && isNow
}
