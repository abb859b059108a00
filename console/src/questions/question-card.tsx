/** One question. */

import type { ReactNode } from 'react'
import { Card } from '../components/page-header.tsx'
import { Skeleton } from '../components/states.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'

export function QuestionCard({ question }: { question: WaitingQuestion }): ReactNode {
  return (
    <Card label={question.title}>
      <strong>{question.title}</strong>
      {!question.view && <Skeleton lines={2} />}
    </Card>
  )
}
