/** Text of others in which long runs of blanks are marks, so that nothing is out of sight because of them. */

import type { ReactNode } from 'react'
import { blankRuns } from '../state/blank-runs.ts'
import css from './shown-text.module.css'

/** @param text made visible already (state/foreign-text.ts) */
export const ShownText = ({ text }: { text: string }): ReactNode =>
  blankRuns(text).map((piece, index) =>
    'text' in piece ? (
      piece.text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text do not change
      <span key={index} className={css.mark}>
        {piece.mark}
      </span>
    ),
  )
