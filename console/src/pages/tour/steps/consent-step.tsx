/** A model proposes a call. */

import { type ReactNode, useEffect } from 'react'
import { Button } from '../../../components/button.tsx'
import { SAY_ADD } from '../../../state/tour.ts'
import css from '../tour.module.css'
import { ChatLines } from './chat-lines.tsx'
import type { StepProps } from './step-props.ts'
import { useHighlight } from './use-highlight.ts'
import { useScriptedChat } from './use-scripted-chat.ts'

export function ConsentStep({ onDone }: StepProps): ReactNode {
  const chat = useScriptedChat('add')
  const isEnded = chat.operation !== undefined && !chat.isRunning
  useHighlight(chat.isRunning ? '[data-answer="allow"], [data-answer="open"]' : undefined)
  useEffect(() => {
    if (isEnded) onDone()
  }, [isEnded, onDone])
  return (
    <div className={css.part}>
      <Button
        kind={isEnded ? 'plain' : 'main'}
        isBusy={chat.isRunning}
        onClick={() => chat.say(SAY_ADD)}
        {...(!chat.operation && { 'data-highlight': '' })}
      >
        Ask the model to add a note
      </Button>
      {chat.operation && <ChatLines said={SAY_ADD} parts={chat.parts} />}
      {chat.startError && <p role="alert">{chat.startError.message}</p>}
    </div>
  )
}
