/** What a question shows beyond its lines: marked arguments, an offering with differences, the address of a server. */

import type { ReactNode } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Fold } from '../../components/fold.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { markOrigins } from '../../state/origins.ts'
import css from '../question-card.module.css'
import { Offering } from './offering.tsx'

type Subject = QuestionView['question']['subject']

export function SubjectView({
  view,
  onChoose,
  isBusy,
}: {
  view: QuestionView
  onChoose(edited: unknown): void
  isBusy: boolean
}): ReactNode {
  const { subject } = view.question
  if (subject.kind === 'call') return <Call subject={subject} />
  if (subject.kind === 'approve') return <Offering subject={subject} onChoose={onChoose} isBusy={isBusy} />
  return null
}

const PLACES: Readonly<Record<string, string>> = { outside: 'leaves this computer', private: 'goes to a private network' }

function Call({ subject }: { subject: Extract<Subject, { kind: 'call' }> }): ReactNode {
  const { args, origins, destination, tool } = subject
  const hints = tool.annotations
  const place = PLACES[destination]
  const badges = [
    place !== undefined && (
      <Badge key="place" tone={destination === 'outside' ? 'danger' : 'waiting'}>
        {place}
      </Badge>
    ),
    hints?.destructiveHint === true && (
      <Badge key="destructive" tone="danger">
        says it may destroy data
      </Badge>
    ),
    hints?.readOnlyHint === true && <Badge key="read-only">says it only reads</Badge>,
  ].filter(Boolean)
  return (
    <>
      {badges.length > 0 && <div className={css.itemHead}>{badges}</div>}
      {origins.length > 0 && (
        <Fold label="Show the marked bytes" isOpen>
          <pre className={css.arguments}>
            {markOrigins(JSON.stringify(args, undefined, 2), origins).map(({ text, source }, index) =>
              source === undefined ? (
                foreignText(text)
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text do not change
                <mark key={index} className={css.mark} title={`from ${foreignText(source)}`}>
                  {foreignText(text)}
                </mark>
              ),
            )}
          </pre>
          <ul>
            {origins.map(({ source, bytes, pointer }) => (
              <li key={`${pointer} ${source}`} className={css.who}>
                {bytes.toLocaleString('en')} bytes come from {foreignText(source)}
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </>
  )
}
