/** A table that fits the width of the terminal. */

import { LINE_BREAK, SafeText, type Showable } from './safe-text.ts'
import type { Screen } from './screen.ts'
import type { StyleName, Styles } from './style.ts'

export interface Column {
  title: string
  style?: StyleName
}

const GAP = 2
/** Minimum width of a column that is cut. */
const LEAST = 8

/** Columns are as wide as their widest cell. The last ones are cut to the width of the terminal. */
export const table = (...given: Parameters<typeof tableLines>): SafeText => SafeText.join(tableLines(...given), LINE_BREAK)

/** The same as lines. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Showable[])[],
  style: Styles,
  width: number | undefined,
): SafeText[] {
  const cells = rows.map((row) => columns.map((_, i) => SafeText.join([row[i] ?? ''])))
  const titles = columns.map(({ title }) => SafeText.oneLine(title))
  const widths = columns.map((_, i) => Math.max(titles[i]?.width ?? 0, ...cells.map((row) => row[i]?.width ?? 0)))
  const last = columns.length - 1
  if (width !== undefined) {
    // The last column gives way first, then the ones before it. The first one has the names that a person types, and is never cut.
    const free = (): number => width - widths.reduce((sum, each) => sum + each + GAP, -GAP)
    for (let i = last; i > 0 && free() < 0; i--) widths[i] = Math.max(Math.min(widths[i] ?? 0, LEAST), (widths[i] ?? 0) + free())
  }
  const line = (row: readonly SafeText[], styleOf: (i: number) => StyleName | undefined): SafeText =>
    SafeText.join(
      row.map((cell, i) => {
        const fitted = i === last ? cell.cut(widths[i] ?? 0) : cell.cut(widths[i] ?? 0).padEnd((widths[i] ?? 0) + GAP)
        const name = styleOf(i)
        return name ? style[name](fitted) : fitted
      }),
    )
  return [line(titles, () => 'dim'), ...cells.map((row) => line(row, (i) => columns[i]?.style))]
}

/** Prints a table in the style and width of the screen. */
export const printTable = (screen: Screen, columns: readonly Column[], rows: readonly (readonly Showable[])[]): void =>
  screen.print(table(columns, rows, screen.style, screen.columns))
