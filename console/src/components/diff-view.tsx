/** Two texts line by line: what was removed and what was added. The signs say it, the colours help. */

import type { ReactNode } from 'react'
import { type DiffLine, diffLines } from '../state/diff.ts'
import { classes } from './classes.ts'
import css from './diff-view.module.css'

const WORDS: Readonly<Record<DiffLine['kind'], string>> = { same: '', added: 'added', removed: 'removed', skipped: '' }
const SIGNS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '−', skipped: '⋯' }

/** Texts of others must be made visible before (state/foreign-text.ts). */
export function DiffView({ before, after, label = 'Changes' }: { before: string; after: string; label?: string }): ReactNode {
  const lines = diffLines(before, after)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className={css.diff} role="region" aria-label={label} tabIndex={0}>
      {lines.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff do not move
        <div key={index} className={classes(css.line, css[kind])}>
          <span className={css.sign} aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <span className={css.text}>
            {WORDS[kind] !== '' && <span className="sr-only">{WORDS[kind]}: </span>}
            {text}
          </span>
        </div>
      ))}
    </div>
  )
}
