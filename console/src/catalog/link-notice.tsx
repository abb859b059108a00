/** Offers what a link from elsewhere wants to fill in. Nothing is used before the person has seen it and pressed the button. */

import type { ReactNode } from 'react'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { foreignText } from '../state/foreign-text.ts'
import css from './catalog.module.css'
import { useIsReady } from './use-own-navigation.ts'

export interface LinkNoticeProps {
  /** What the link fills in: `arguments`. */
  what: string
  text: string
  /** The words of the button: `Use them`. */
  use: string
  onUse(): void
}

export function LinkNotice({ what, text, use, onUse }: LinkNoticeProps): ReactNode {
  const isReady = useIsReady()
  return (
    <section className={css.notice} aria-label="From a link">
      <p>
        <strong>The link that opened this window comes with {what}.</strong> Anyone can make such a link, so nothing of it is filled in yet.
      </p>
      <CodeBlock text={foreignText(text)} isForeign hasCopy={false} label="From the link" />
      <div>
        <Button disabled={!isReady} onClick={onUse}>
          {use}
        </Button>
      </div>
    </section>
  )
}
