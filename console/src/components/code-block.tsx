/** Text in a fixed width, complete, with a button to copy it. Text of others is marked at its left edge. */

import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import css from './code-block.module.css'
import { CopyButton } from './copy-button.tsx'

export interface CodeBlockProps {
  /** Made visible already (state/foreign-text.ts) if others wrote it. */
  text: string
  label?: string
  isForeign?: boolean
  /** Lines do not wrap. Default: they do. */
  isUnwrapped?: boolean
  hasCopy?: boolean
  /** What the copy button copies. Default: the text. */
  copy?: string
}

export function CodeBlock({ text, label, isForeign = false, isUnwrapped = false, hasCopy = true, copy }: CodeBlockProps): ReactNode {
  return (
    <figure className={classes(css.block, isForeign && css.foreign)}>
      {(label || hasCopy) && (
        <figcaption className={css.caption}>
          <span>{label}</span>
          {hasCopy && <CopyButton text={copy ?? text} kind="quiet" />}
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre className={classes(css.text, isUnwrapped && css.unwrapped)} tabIndex={0} role="region" aria-label={label ?? 'Text'}>
        {text}
      </pre>
    </figure>
  )
}
