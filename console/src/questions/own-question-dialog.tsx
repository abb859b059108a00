/** The question that the person's own click caused, as a dialog, if the tray does not show it already. Closing it leaves it in the tray. */

import { type ReactNode, useState } from 'react'
import { Dialog } from '../components/dialog.tsx'
import { useConsoleState } from '../hooks/use-console.tsx'
import { ownQuestion } from '../state/own-questions.ts'
import { QuestionCard } from './question-card.tsx'

export function OwnQuestionDialog({ isTrayShown }: { isTrayShown: boolean }): ReactNode {
  const question = useConsoleState(ownQuestion)
  const [closed, setClosed] = useState<string>()
  const isOpen = question !== undefined && question.id !== closed && !isTrayShown
  return (
    <Dialog title={question?.title ?? ''} isOpen={isOpen} onClose={() => setClosed(question?.id)}>
      {/* Another question begins with its own quiet time, and with its folded text unread. */}
      {question && <QuestionCard key={question.id} question={question} isInDialog />}
    </Dialog>
  )
}
