/** Data: a table where it is one, and a tree. */

import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { JsonTree } from '../components/json-tree.tsx'
import { type Column, Table } from '../components/table.tsx'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import { counted, shortened } from '../state/format.ts'
import { cellText, type DataTable, tableIn } from '../state/results.ts'
import { Modes } from './modes.tsx'
import css from './results.module.css'

export function ValueView({ value, label }: { value: unknown; label: string }): ReactNode {
  const table = useMemo(() => tableIn(value), [value])
  const [mode, setMode] = useState<'table' | 'tree'>('table')
  if (!table) return <JsonTree value={value} label={label} />
  return (
    <div className={css.stack}>
      <div className={css.line}>
        <Modes<'table' | 'tree'>
          label="Show as"
          selected={mode}
          modes={[
            { id: 'table', label: 'Table' },
            { id: 'tree', label: 'Tree' },
          ]}
          onSelect={setMode}
        />
        {mode === 'table' && (
          <span className={css.muted}>
            {table.name === undefined ? '' : `${foreignName(table.name)}: `}
            {counted(table.rows.length, 'row')}
          </span>
        )}
      </div>
      {mode === 'tree' ? <JsonTree value={value} label={label} /> : <RowsView table={table} label={label} />}
    </div>
  )
}

const STEP = 100
const MAX_CELL = 400

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
          cell: ({ row }) => foreignText(shortened(cellText(row[name]), MAX_CELL)),
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
