/** The question that the person's own click caused, as a dialog. Closing it leaves the question in the tray. */

import { type ReactNode, useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { useConsoleState } from '../hooks/use-console.tsx'
import { ownQuestion } from '../state/own-questions.ts'
import { QuestionCard } from './question-card.tsx'

export function OwnQuestionDialog(): ReactNode {
  const question = useConsoleState(ownQuestion)
  const [closed, setClosed] = useState<string>()
  const isOpen = question !== undefined && question.id !== closed
  return (
    <Dialog title="Before this goes on" isOpen={isOpen} onClose={() => setClosed(question?.id)}>
      {question && <QuestionCard question={question} isInDialog />}
    </Dialog>
  )
}
