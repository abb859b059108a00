/** A value that has no better field: its JSON. What was typed is kept while it is no JSON. */

import { type ReactNode, useState } from 'react'
import { Field, TextArea } from '../../components/field.tsx'
import { isSame } from '../model/value.ts'
import css from '../schema-form.module.css'
import { join, type LeafProps } from './context.ts'

export function JsonField({
  label,
  help,
  fault,
  value,
  onChange,
  isRequired,
  reason,
}: LeafProps & { reason?: string | undefined }): ReactNode {
  const [text, setText] = useState(() => textOf(value))
  const parsed = parse(text)
  // The value was changed elsewhere: by a reset, or in the JSON of the whole form.
  const shown = parsed.isJson && !isSame(parsed.value, value) ? textOf(value) : text
  const change = (next: string): void => {
    setText(next)
    const { isJson, value: read } = parse(next)
    if (isJson) onChange(read)
  }
  const own = parse(shown)
  return (
    <Field
      label={label}
      help={join(help, reason)}
      fault={own.isJson ? fault : 'This is not JSON. A text needs quotation marks.'}
      isRequired={isRequired}
      aside={<span className={css.type}>JSON</span>}
    >
      {(control) => <TextArea {...control} isCode rows={2} value={shown} onChange={(event) => change(event.target.value)} />}
    </Field>
  )
}

const textOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, undefined, 2))

function parse(text: string): { isJson: boolean; value?: unknown } {
  if (text.trim() === '') return { isJson: true }
  try {
    return { isJson: true, value: JSON.parse(text) }
  } catch {
    return { isJson: false }
  }
}
