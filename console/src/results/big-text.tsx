/** Text of any length. Long text is drawn in pieces: the browser lays out only those that are visible. */

import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { classes } from '../components/classes.ts'
import { foreignText } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import { piecesOf } from '../state/results.ts'
import css from './results.module.css'

const PIECE = 8_000
/** Pieces that are drawn at first, and with each request for more. */
const STEP = 8

/** @param text as it was received */
export function BigText({ text, label, isCode = false }: { text: string; label: string; isCode?: boolean }): ReactNode {
  const pieces = useMemo(() => piecesOf(foreignText(text), PIECE), [text])
  const [shown, setShown] = useState(STEP)
  const left = pieces.slice(shown).reduce((sum, piece) => sum + piece.length, 0)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div className={classes(css.text, isCode && css.code)} role="region" aria-label={label} tabIndex={0}>
        {pieces.slice(0, shown).map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text do not move
          <div key={index} className={css.piece}>
            {piece}
          </div>
        ))}
        {text === '' && <span className={css.muted}>Empty text</span>}
      </div>
      {left > 0 && (
        <div className={css.actions}>
          <Button isSmall onClick={() => setShown(shown + STEP * 4)}>
            Show more
          </Button>
          <Button isSmall kind="quiet" onClick={() => setShown(pieces.length)}>
            Show all, {counted(left, 'more character')}
          </Button>
        </div>
      )}
    </>
  )
}
