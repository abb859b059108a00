/** What a question shows beyond its lines: marked arguments, an offering with differences, the address of a server. */

import type { ReactNode } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { markedArguments } from '../../state/origins.ts'
import { showsArguments } from '../../state/question-words.ts'
import css from '../question-card.module.css'
import { Offering } from './offering.tsx'

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
  if (subject.kind === 'call') return <Call view={view} subject={subject} />
  if (subject.kind === 'approve') return <Offering subject={subject} onChoose={onChoose} isBusy={isBusy} />
  return null
}

type CallSubject = Extract<QuestionView['question']['subject'], { kind: 'call' }>

const PLACES: Readonly<Record<string, string>> = { outside: 'leaves this computer', private: 'goes to a private network' }

function Call({ view, subject }: { view: QuestionView; subject: CallSubject }): ReactNode {
  const { destination, tool } = subject
  // A warning among the lines says it already.
  const isSaid = view.summary.lines.some(({ kind }) => kind === 'warning')
  const badges = [
    ...(PLACES[destination] !== undefined && !isSaid ? [{ text: PLACES[destination], tone: 'danger' as const }] : []),
    ...(tool.annotations?.destructiveHint === true ? [{ text: 'says it may destroy data', tone: 'danger' as const }] : []),
    ...(tool.annotations?.readOnlyHint === true ? [{ text: 'says it only reads', tone: 'plain' as const }] : []),
  ]
  return (
    <>
      {showsArguments(view) && <Arguments subject={subject} />}
      {badges.length > 0 && (
        <div className={css.itemHead}>
          {badges.map(({ text, tone }) => (
            <Badge key={text} tone={tone}>
              {text}
            </Badge>
          ))}
        </div>
      )}
    </>
  )
}

/** All arguments. The bytes that came from elsewhere are marked. */
const Arguments = ({ subject: { args, origins } }: { subject: CallSubject }): ReactNode => (
  <dl className={css.given}>
    {markedArguments(args, origins).map(({ name, pieces }) => (
      <div key={name} className={css.pair}>
        <dt className={css.who}>{foreignName(name)}</dt>
        <dd className={css.value}>
          {pieces.map(({ text, source }, index) =>
            source === undefined ? (
              foreignText(text)
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text do not change
              <mark key={index} className={css.mark} title={`from ${foreignName(source)}`}>
                {foreignText(text)}
              </mark>
            ),
          )}
        </dd>
      </div>
    ))}
  </dl>
)
