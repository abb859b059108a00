/** Arguments as a log keeps them: the whole value, or the beginning of its text. */

import type { ReactNode } from 'react'
import { JsonTree } from './json-tree.tsx'
import css from './stored-arguments.module.css'

/** @param cut what to say if only the beginning is there @param preview a text must be made visible before (state/foreign-text.ts) */
export const StoredArguments = ({ isWhole, preview, cut }: { isWhole: boolean; preview: unknown; cut: string }): ReactNode => (
  <>
    {!isWhole && <p className={css.cut}>{cut}</p>}
    {typeof preview === 'string' ? <pre className={css.text}>{preview}</pre> : <JsonTree value={preview} label="Arguments" />}
  </>
)
