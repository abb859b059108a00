/** A long list of which only the visible rows exist. Keys: arrows, Page Up, Page Down, Home, End, Enter. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { classes } from './classes.ts'
import css from './virtual-list.module.css'

export interface VirtualListProps<Row> {
  label: string
  rows: readonly Row[]
  keyOf(row: Row): string
  /** The height of a row in pixels. Default: 36. */
  rowHeight?: number
  /** The height of a heading in pixels. Default: 36. */
  headingHeight?: number
  /** Undefined: rows cannot be selected. */
  selected?: string | undefined
  onSelect?(row: Row): void
  /** Headings between the rows cannot be selected. */
  isHeading?(row: Row): boolean
  /** Scrolls to the end when rows are added, as long as the person has not scrolled up. */
  isFollowing?: boolean
  className?: string
  children(row: Row): ReactNode
}

export function VirtualList<Row>({
  label,
  rows,
  keyOf,
  rowHeight = 36,
  headingHeight = 36,
  selected,
  onSelect,
  isHeading = () => false,
  isFollowing = false,
  className,
  children,
}: VirtualListProps<Row>): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => (isHeading(rows[index] as Row) ? headingHeight : rowHeight),
    overscan: 12,
    getItemKey: (index) => keyOf(rows[index] as Row),
  })
  useEffect(() => {
    if (isFollowing && isAtEnd.current && rows.length > 0) virtualizer.scrollToIndex(rows.length - 1)
  }, [isFollowing, rows.length, virtualizer])
  const onScroll = (): void => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {}
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowHeight
  }
  const selectedIndex = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected)
  useEffect(() => {
    // An address can select a row that is not visible yet.
    if (selectedIndex >= 0) virtualizer.scrollToIndex(selectedIndex, { align: 'auto' })
  }, [selectedIndex, virtualizer])
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowHeight) - 1)
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length }
    const step = steps[event.key]
    if (step === undefined || !onSelect || rows.length === 0) return
    event.preventDefault()
    const aimed = Math.min(rows.length - 1, Math.max(0, selectedIndex + step))
    const isFree = (index: number): boolean => !isHeading(rows[index] as Row)
    const indexes = Array.from(rows.keys())
    const after = indexes.find((index) => index >= aimed && isFree(index))
    const before = indexes.findLast((index) => index <= aimed && isFree(index))
    const next = (step < 0 ? (before ?? after) : (after ?? before)) ?? -1
    if (next < 0) return
    // The heading of the first row is shown with it.
    virtualizer.scrollToIndex(next === after && next > 0 && !isFree(next - 1) ? next - 1 : next)
    onSelect(rows[next] as Row)
  }
  return (
    <div
      ref={box}
      className={classes(css.box, className)}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      role="listbox"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={selectedIndex >= 0 ? `${label}-${selectedIndex}` : undefined}
    >
      {/* Sizes are set through the DOM, which the content security policy allows; style attributes in HTML it does not. */}
      <div className={css.whole} style={{ height: virtualizer.getTotalSize() }} role="presentation">
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index] as Row
          const isSelected = index === selectedIndex
          if (isHeading(row))
            return (
              <div key={key} role="presentation" className={css.row} style={{ height: headingHeight, transform: `translateY(${start}px)` }}>
                {children(row)}
              </div>
            )
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
            <div
              key={key}
              id={`${label}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={isSelected}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className={classes(css.row, onSelect && css.clickable, isSelected && css.selected)}
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
              onClick={onSelect && (() => onSelect(row))}
            >
              {children(row)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
