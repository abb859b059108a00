/** JSON as a tree. Large arrays and objects show their first members, and more on request. */

import { type ReactNode, useState } from 'react'
import css from './json-tree.module.css'

const STEP = 100

export function JsonTree({ value, label = 'JSON', openLevels = 2 }: { value: unknown; label?: string; openLevels?: number }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className={css.tree} role="region" aria-label={label} tabIndex={0}>
      <Node value={value} openLevels={openLevels} />
    </div>
  )
}

function Node({ name, value, openLevels }: { name?: string; value: unknown; openLevels: number }): ReactNode {
  const isArray = Array.isArray(value)
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={css.leaf}>
        {name !== undefined && <span className={css.name}>{name}: </span>}
        <Leaf value={value} />
      </div>
    )
  }
  const entries = Object.entries(value)
  const size = `${isArray ? '[' : '{'} ${entries.length} ${isArray ? ']' : '}'}`
  if (entries.length === 0) {
    return (
      <div className={css.leaf}>
        {name !== undefined && <span className={css.name}>{name}: </span>}
        <span className={css.size}>{isArray ? '[]' : '{}'}</span>
      </div>
    )
  }
  return <Branch name={name} size={size} entries={entries} openLevels={openLevels} />
}

function Branch({
  name,
  size,
  entries,
  openLevels,
}: {
  name: string | undefined
  size: string
  entries: readonly [string, unknown][]
  openLevels: number
}): ReactNode {
  const [isOpen, setOpen] = useState(openLevels > 0)
  const [shown, setShown] = useState(STEP)
  return (
    <details className={css.branch} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={css.summary}>
        {name !== undefined && <span className={css.name}>{name}: </span>}
        <span className={css.size}>{size}</span>
      </summary>
      {isOpen && (
        <div className={css.members}>
          {entries.slice(0, shown).map(([key, value]) => (
            <Node key={key} name={visible(key)} value={value} openLevels={openLevels - 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className={css.more} onClick={() => setShown(shown + STEP * 10)}>
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

const MAX_TEXT = 2_000

function Leaf({ value }: { value: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className={css[value === null ? 'size' : typeof value]}>{String(value)}</span>
  const text = JSON.stringify(value)
  const isLong = text.length > MAX_TEXT && !isWhole
  return (
    <>
      <span className={css.string}>{visible(isLong ? text.slice(0, MAX_TEXT) : text)}</span>
      {isLong && (
        <button type="button" className={css.more} onClick={() => setWhole(true)}>
          {text.length - MAX_TEXT} more characters
        </button>
      )}
    </>
  )
}

/** Characters that hide or reorder text become escapes. JSON has escaped the control characters already. */
const visible = (text: string): string =>
  text.replace(/[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
