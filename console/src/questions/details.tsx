/** All of a question in words, the difference from the last allowed call, and the raw question. */

import type { ReactNode } from 'react'
import type { QuestionView } from '../../../src/console/api.ts'
import { DiffView } from '../components/diff-view.tsx'
import { Fold } from '../components/fold.tsx'
import { JsonTree } from '../components/json-tree.tsx'
import { foreignText } from '../state/foreign-text.ts'
import css from './question-card.module.css'
import { QuestionLines } from './question-lines.tsx'

export function Details({ view }: { view: QuestionView }): ReactNode {
  const { question, lines } = view
  const { subject } = question
  const text = (value: unknown): string => foreignText(JSON.stringify(value, undefined, 2))
  return (
    <div className={css.part}>
      <QuestionLines lines={lines.filter(({ kind }) => kind !== 'title')} />
      {subject.kind === 'call' && subject.lastArgs !== undefined && (
        <div className={css.part}>
          <h3>Since the call that you allowed last</h3>
          <DiffView before={text(subject.lastArgs)} after={text(subject.args)} />
        </div>
      )}
      <Fold label="As JSON">
        <JsonTree value={question} label="The question as JSON" openLevels={1} />
      </Fold>
    </div>
  )
}
