/** What a server says to the person or to the model. It has no box that scrolls, so that its end is above the buttons. */

import type { ReactNode } from 'react'
import { ShownText } from '../../components/shown-text.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import type { ShownMessage } from '../../state/shown-question.ts'
import css from '../question-card.module.css'

/** @param isOurs words of the host, which are not marked as those of a server */
export const Messages = ({ messages, isOurs = false }: { messages: readonly ShownMessage[]; isOurs?: boolean }): ReactNode =>
  messages.map(({ from, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a question do not change
    <div key={index}>
      {from !== undefined && <span className={css.who}>{foreignText(from)}</span>}
      <p className={isOurs ? undefined : css.arguments}>
        <ShownText text={text} />
      </p>
    </div>
  ))
