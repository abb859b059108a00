/** A list: one row for each item. */

import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { counted } from '../../state/format.ts'
import { fieldOf } from '../model/field.ts'
import { initialValue } from '../model/initial.ts'
import { withItem, withSwapped } from '../model/value.ts'
import css from '../schema-form.module.css'
import { type LeafProps, useForm } from './context.ts'

const STEP = 50

export function ArrayField({ field, label, help, fault, value, onChange, path, depth, isRequired }: LeafProps<'array'>): ReactNode {
  const { root, ValueField } = useForm()
  const id = useId()
  const [shown, setShown] = useState(STEP)
  const list = Array.isArray(value) ? value : []
  const add = (): void => {
    const item = field.itemAt(list.length)
    onChange([...list, initialValue(root, item) ?? emptyOf(root, item)])
  }
  const remove = (index: number): void => {
    const next = list.filter((_, each) => each !== index)
    onChange(next.length === 0 && !isRequired ? undefined : next)
  }
  return (
    <div role="group" aria-labelledby={id} className={css.group}>
      <span id={id} className={css.legend}>
        {label} <span className={css.type}>{counted(list.length, 'row')}</span>
      </span>
      {help !== undefined && <p className={css.help}>{help}</p>}
      {list.slice(0, shown).map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
        <div key={index} className={css.row}>
          <ValueField
            name={`${index + 1}`}
            schema={field.itemAt(index)}
            value={item === null ? undefined : item}
            onChange={(next) => onChange(withItem(list, index, next))}
            path={[...path, index]}
            depth={depth + 1}
            isRequired
          />
          <div className={css.rowActions}>
            <Button
              kind="quiet"
              isSmall
              aria-label={`Move row ${index + 1} up`}
              disabled={index === 0}
              onClick={() => onChange(withSwapped(list, index, index - 1))}
            >
              ↑
            </Button>
            <Button kind="quiet" isSmall aria-label={`Remove row ${index + 1}`} onClick={() => remove(index)}>
              ✕
            </Button>
          </div>
        </div>
      ))}
      {list.length > shown && (
        <Button isSmall onClick={() => setShown(shown + STEP)}>
          {counted(list.length - shown, 'more row')}
        </Button>
      )}
      <div>
        <Button isSmall disabled={list.length >= field.maxItems} onClick={add}>
          Add a row
        </Button>
      </div>
      {fault !== undefined && <p className={css.fault}>{fault}</p>}
    </div>
  )
}

/** A new row of a kind without a default. Null stands for a value that is not entered yet. */
const emptyOf = (root: Parameters<typeof fieldOf>[0], item: unknown): unknown => (fieldOf(root, item).kind === 'array' ? [] : null)
