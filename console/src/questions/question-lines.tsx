/** The lines of a question. Text of others is marked at its left edge, so that it cannot pass for a line of the host. */

import { memo, type ReactNode, useMemo, useState } from 'react'
import type { QuestionView } from '../../../src/console/api.ts'
import { Button } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { ShownText } from '../components/shown-text.tsx'
import { createRoom, hiddenText, isOver, takeLines } from '../state/question-room.ts'
import css from './question-lines.module.css'

type Line = QuestionView['lines'][number]

export const QuestionLines = memo(function QuestionLines({ lines, isCompact = false }: { lines: readonly Line[]; isCompact?: boolean }) {
  return (
    <dl className={classes(css.lines, isCompact && css.compact)}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a question do not change
        <QuestionLineView key={index} line={line} isAgain={lines[index - 1]?.label === line.label} />
      ))}
    </dl>
  )
})

/** Lines that an answer does not need. The person can show more of them. */
export function MoreLines({ lines }: { lines: readonly Line[] }): ReactNode {
  const [portion, setPortion] = useState(1)
  const { shown, room } = useMemo(() => {
    const room = createRoom(portion)
    return { shown: takeLines(room, lines), room }
  }, [lines, portion])
  return (
    <>
      <QuestionLines lines={shown} />
      {isOver(room) && (
        <Button isSmall onClick={() => setPortion(portion * 2)}>
          Show more ({hiddenText(room)} left)
        </Button>
      )}
    </>
  )
}

/** @param isAgain the line before has the same label, which is not shown twice */
function QuestionLineView({ line: { label, text, tone, kind, claim, isJson }, isAgain }: { line: Line; isAgain: boolean }): ReactNode {
  const isDifference = kind === 'difference'
  const isLabelHidden = isAgain || (tone === 'warning' && label === 'warning')
  return (
    <div className={classes(css.line, css[tone])}>
      <dt className={classes(css.label, isLabelHidden && css.unnamed)}>
        {tone === 'warning' && <span aria-hidden="true">▲ </span>}
        {isLabelHidden ? <span className="sr-only">{label}</span> : label}
      </dt>
      <dd className={classes(css.text, (kind === 'command' || kind === 'argument' || isDifference || isJson) && css.code)}>
        {isDifference ? <Difference text={text} /> : <ShownText text={text} />}
        {claim !== undefined && <span className={css.claim}>{claim}</span>}
      </dd>
    </div>
  )
}

/** The host marks removed lines with `-` and added ones with `+`. */
function Difference({ text }: { text: string }): ReactNode {
  return text.split('\n').map((each, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a difference do not change
    <span key={index} className={classes(css.part, each.startsWith('- ') && css.removed, each.startsWith('+ ') && css.added)}>
      <ShownText text={each} />
    </span>
  ))
}
