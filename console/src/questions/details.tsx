/** All of a question in words, the difference from the last allowed call, and the raw question. */

import { type ReactNode, useMemo, useState } from 'react'
import type { QuestionView } from '../../../src/console/api.ts'
import { DiffView } from '../components/diff-view.tsx'
import { Fold } from '../components/fold.tsx'
import { JsonTree } from '../components/json-tree.tsx'
import { foreignText } from '../state/foreign-text.ts'
import { dateText } from '../state/format.ts'
import css from './question-card.module.css'
import { MoreLines } from './question-lines.tsx'

export function Details({ view }: { view: QuestionView }): ReactNode {
  const { question, lines } = view
  const { subject } = question
  const [isJson, setJson] = useState(false)
  const { expiresAt } = question
  const told = useMemo(
    () =>
      lines
        .filter(({ kind }) => kind !== 'title')
        // In the time of this computer, as everywhere in the page.
        .map((line) => (line.kind === 'expiry' ? { ...line, text: `${dateText(expiresAt)} (then denied)` } : line)),
    [lines, expiresAt],
  )
  return (
    <div className={css.part}>
      <MoreLines lines={told} />
      {subject.kind === 'call' && subject.lastArgs !== undefined && (
        <div className={css.part}>
          <h3>Since the call that you allowed last</h3>
          <DiffView before={text(subject.lastArgs)} after={text(subject.args)} />
        </div>
      )}
      <Fold label="As JSON" isOpen={isJson} onToggle={setJson}>
        {isJson && <JsonTree value={question} label="The question as JSON" openLevels={1} />}
      </Fold>
    </div>
  )
}

const text = (value: unknown): string => foreignText(JSON.stringify(value, undefined, 2))
