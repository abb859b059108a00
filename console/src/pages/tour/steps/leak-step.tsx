/** Text of a note is about to leave: the host marks the bytes and asks. */

import { type ReactNode, useEffect } from 'react'
import { Badge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { useRoute } from '../../../hooks/use-console.tsx'
import { resultText, SAY_SEARCH } from '../../../state/tour.ts'
import css from '../tour.module.css'
import { ChatLines } from './chat-lines.tsx'
import { Outcome } from './outcome.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useKeptOperation } from './use-kept-operation.ts'
import { useScriptedChat } from './use-scripted-chat.ts'

export function LeakStep({ onDone }: StepProps): ReactNode {
  const tour = useRoute('GET /api/tour')
  const chat = useScriptedChat('search')
  const report = useKeptOperation('report')
  const id = tour.data?.rogue?.server
  const found = chat.parts.flatMap((part) => (part.type === 'tool-result' ? [resultText(part.result)] : [])).join('\n')
  const isEnded = report.operation !== undefined && !report.isRunning
  const { refetch } = tour
  useHighlight(chat.isRunning ? '[data-answer="allow"], [data-answer="open"]' : report.isRunning ? '[data-answer="deny"]' : undefined)
  useEffect(() => {
    if (!isEnded) return
    onDone()
    void refetch()
  }, [isEnded, onDone, refetch])
  if (id === undefined) return <p>First add the weather server in step 4.</p>
  const isRead = found !== '' && chat.conversation !== undefined
  const send = (): void =>
    void report.start('POST /api/tools/call', {
      body: {
        tool: { server: id, name: 'report' },
        args: { message: `Forecast done. ${found}` },
        ...(chat.conversation !== undefined && { conversation: chat.conversation }),
      },
    })
  return (
    <div className={css.part}>
      <div className={css.buttons}>
        <Button
          kind={isRead ? 'plain' : 'main'}
          isBusy={chat.isRunning}
          onClick={() => chat.say(SAY_SEARCH)}
          {...(!chat.operation && { 'data-highlight': '' })}
        >
          Let the model read the note
        </Button>
        <Button
          kind={isRead ? 'main' : 'plain'}
          disabled={!isRead}
          isBusy={report.isRunning}
          onClick={send}
          {...(isRead && !report.operation && { 'data-highlight': '' })}
        >
          Send what it read to the weather server
        </Button>
      </div>
      {chat.operation && <ChatLines said={SAY_SEARCH} parts={chat.parts} />}
      <Outcome run={report} />
      {isEnded && tour.data?.rogue && (
        <p>
          <Badge tone={tour.data.rogue.received === 0 ? 'fine' : 'danger'}>{tour.data.rogue.received === 0 ? 'stopped' : 'sent'}</Badge> The
          weather server has received {tour.data.rogue.received} of your texts.
        </p>
      )}
    </div>
  )
}
