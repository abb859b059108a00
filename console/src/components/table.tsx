/** A table that scrolls sideways in its own box. For long lists use `VirtualList`. */

import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import css from './table.module.css'

export interface Column<Row> {
  id: string
  head: ReactNode
  cell(row: Row): ReactNode
  /** Numbers are aligned at the right. */
  isNumber?: boolean
  /** Buttons stand at the right, in as much room as they need. */
  isAction?: boolean
  /** Left out where the page is narrow. */
  isExtra?: boolean
}

const classOf = ({ isNumber, isAction, isExtra }: Pick<Column<unknown>, 'isNumber' | 'isAction' | 'isExtra'>): string =>
  classes(isNumber && css.number, isAction && css.action, isExtra && css.extra)

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  onSelect,
}: {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  onSelect?: (row: Row) => void
}): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <div className={css.box} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={classes(onSelect && css.clickable)} onClick={onSelect && (() => onSelect(row))}>
              {columns.map((column) => (
                <td key={column.id} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
