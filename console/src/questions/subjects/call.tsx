/** What the card of a call shows beyond its lines: marked arguments, and what the tool says about itself. */

import type { ReactNode } from 'react'
import type { QuestionView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { ShownText } from '../../components/shown-text.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { markedArguments } from '../../state/origins.ts'
import css from '../question-card.module.css'

type CallSubject = Extract<QuestionView['question']['subject'], { kind: 'call' }>

const PLACES: Readonly<Record<string, string>> = { outside: 'may leave this computer', private: 'goes to a private network' }

export function Call({ view, subject, hasArguments }: { view: QuestionView; subject: CallSubject; hasArguments: boolean }): ReactNode {
  const { destination, tool, args } = subject
  // A warning among the lines says it already.
  const isSaid = view.summary.lines.some(({ kind }) => kind === 'warning')
  const badges = [
    // Without arguments nothing leaves.
    ...(PLACES[destination] !== undefined && !isSaid && Object.keys(args).length > 0
      ? [{ text: PLACES[destination], tone: 'danger' as const }]
      : []),
    ...(tool.annotations?.destructiveHint === true ? [{ text: 'says it may destroy data', tone: 'danger' as const }] : []),
    ...(tool.annotations?.readOnlyHint === true ? [{ text: 'says it only reads', tone: 'plain' as const }] : []),
  ]
  return (
    <>
      {hasArguments && <Arguments subject={subject} />}
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
          {pieces.map(({ text, source, before, after }, index) =>
            source === undefined ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text do not change
              <ShownText key={index} text={foreignText(text)} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text do not change
              <mark key={index} className={css.mark} title={`from ${foreignName(source)}: the underlined part`}>
                {before !== undefined && <ShownText text={foreignText(before)} />}
                <span className={css.exact}>
                  <ShownText text={foreignText(text)} />
                </span>
                {after !== undefined && <ShownText text={foreignText(after)} />}
              </mark>
            ),
          )}
        </dd>
      </div>
    ))}
  </dl>
)
