/** A list: one row for each item. */

import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { counted } from '../../state/format.ts'
import { fits } from '../model/fits.ts'
import { emptyOf, initialValue } from '../model/initial.ts'
import { withItem, withSwapped } from '../model/value.ts'
import css from '../schema-form.module.css'
import { type LeafProps, useForm } from './context.ts'

export function ArrayField({ field, label, help, fault, value, onChange, path, depth, isRequired }: LeafProps<'array'>): ReactNode {
  const { root, ValueField } = useForm()
  const id = useId()
  const list = Array.isArray(value) ? value : []
  const [added, setAdded] = useState(-1)
  const rows = useRef<HTMLDivElement>(null)
  const add = (): void => {
    const item = field.itemAt(list.length)
    onChange([...list, initialValue(root, item) ?? emptyOf(root, item)])
    setAdded(list.length)
  }
  // The person goes on in the new row.
  useEffect(() => {
    if (added >= 0) rows.current?.children[added]?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }, [added])
  const remove = (index: number): void => {
    setAdded(-1)
    const next = list.filter((_, each) => each !== index)
    onChange(next.length === 0 && !isRequired ? undefined : next)
  }
  return (
    <div role="group" aria-labelledby={id} className={css.group}>
      <span id={id} className={css.legend}>
        {label} <span className={css.type}>{counted(list.length, 'row')}</span>
      </span>
      {help !== undefined && <p className={css.help}>{help}</p>}
      {list.length > 0 && (
        <div ref={rows} className={css.group}>
          {list.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
            <div key={index} className={css.row}>
              <ValueField
                name={`${index + 1}`}
                schema={field.itemAt(index)}
                // Null stands for a value that is not entered yet, where null itself is not allowed.
                value={item === null && !fits(root, field.itemAt(index), null) ? undefined : item}
                onChange={(next) => onChange(withItem(list, index, next === undefined ? emptyOf(root, field.itemAt(index)) : next))}
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
        </div>
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
