/** Data: a table where it is one, and a tree. */

import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { JsonTree } from '../components/json-tree.tsx'
import { type Column, Table } from '../components/table.tsx'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import { counted, shortened } from '../state/format.ts'
import { cellText, type DataTable, tableIn } from '../state/results.ts'
import { BigText } from './big-text.tsx'
import { Modes } from './modes.tsx'
import css from './results.module.css'

type Mode = 'table' | 'tree' | 'text'

const LABELS: Readonly<Record<Mode, string>> = { table: 'Table', tree: 'Tree', text: 'Text' }

/** @param text the text that the value was read from: it can be shown, too */
export function ValueView({
  value,
  label,
  text,
  isTextFirst = false,
}: {
  value: unknown
  label: string
  text?: string
  isTextFirst?: boolean
}): ReactNode {
  const table = useMemo(() => tableIn(value), [value])
  const [chosen, setChosen] = useState<Mode>(isTextFirst ? 'text' : 'table')
  const mode = chosen === 'table' && !table ? 'tree' : chosen
  const modes: Mode[] = [...(table ? ['table' as const] : []), 'tree', ...(text === undefined ? [] : ['text' as const])]
  return (
    <div className={css.stack}>
      {modes.length > 1 && (
        <div className={css.line}>
          <Modes<Mode> label="Show as" selected={mode} modes={modes.map((id) => ({ id, label: LABELS[id] }))} onSelect={setChosen} />
          {mode === 'table' && table && (
            <span className={css.muted}>
              {table.name === undefined ? '' : `${foreignName(table.name)}: `}
              {counted(table.rows.length, 'row')}
            </span>
          )}
        </div>
      )}
      {mode === 'text' && text !== undefined ? (
        <BigText text={text} label={label} isCode />
      ) : mode === 'table' && table ? (
        <RowsView table={table} label={label} />
      ) : (
        <JsonTree value={value} label={label} />
      )}
    </div>
  )
}

const STEP = 100
const MAX_CELL = 400
const MAX_LINE = 26

interface KeyedRow {
  key: string
  row: DataTable['rows'][number]
}

function RowsView({ table, label }: { table: DataTable; label: string }): ReactNode {
  const [shown, setShown] = useState(STEP)
  const { columns, rows, rest } = table
  const made = useMemo(
    () =>
      columns.map(
        (name): Column<KeyedRow> => ({
          id: name,
          head: foreignName(name),
          cell: ({ row }) => <Cell text={cellText(row[name])} />,
          isNumber: rows.slice(0, STEP).every((row) => row[name] === undefined || typeof row[name] === 'number'),
        }),
      ),
    [columns, rows],
  )
  const keyed = useMemo(() => rows.slice(0, shown).map((row, index) => ({ row, key: String(index) })), [rows, shown])
  return (
    <div className={css.stack}>
      <div className={css.scroll}>
        <Table label={label} columns={made} rows={keyed} keyOf={({ key }) => key} />
      </div>
      {rows.length > shown && (
        <div>
          <Button isSmall onClick={() => setShown(shown + STEP * 5)}>
            Show more rows, {(rows.length - shown).toLocaleString('en')} left
          </Button>
        </div>
      )}
      {rest && <JsonTree value={rest} label="The rest" />}
    </div>
  )
}

/** Short texts, such as names and dates, stay in one line. */
const Cell = ({ text }: { text: string }): ReactNode => (
  <span className={text.length <= MAX_LINE ? css.short : css.long}>{foreignText(shortened(text, MAX_CELL))}</span>
)
