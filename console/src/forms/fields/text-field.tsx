/** Text: one line, several lines, a date, a secret; with suggestions while the person types. */

import { Combobox, ComboboxItem, ComboboxPopover, ComboboxProvider } from '@ariakit/react'
import { type ReactNode, useEffect, useState } from 'react'
import { type ControlProps, Field, TextArea, TextInput } from '../../components/field.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted, shortened } from '../../state/format.ts'
import type { Path } from '../model/value.ts'
import css from '../schema-form.module.css'
import { join, type LeafProps, type Suggest, useForm } from './context.ts'

const FORMAT_HELP: Readonly<Record<string, string>> = {
  'date-time': 'Date and time, for example 2026-11-16T09:30:00Z',
  date: '',
  time: 'Time, for example 09:30:00Z',
  email: 'An e-mail address',
  uri: 'A whole address, with https://',
  uuid: 'A UUID',
  ipv4: 'An IPv4 address',
  ipv6: 'An IPv6 address',
  regex: 'A regular expression',
}

export function TextField({ field, name, label, help, fault, value, onChange, isRequired, path }: LeafProps<'text'>): ReactNode {
  const { suggest, hidden } = useForm()
  const text = typeof value === 'string' ? value : ''
  // An empty text counts as none. The JSON mode can send one.
  const [typed, setTyped] = useState<string>()
  const set = (next: string): void => {
    setTyped(next)
    onChange(next === '' ? undefined : next)
  }
  // One line shows the beginning only. A text that the person did not type here is shown whole.
  const [isWhole, setWhole] = useState(false)
  if (!isWhole && text !== typed && (text.length > MAX_LINE || /[\r\n]/.test(text))) setWhole(true)
  const isSecret = field.isSecret || (path.length === 1 && hidden.has(name))
  const format = field.format === undefined ? undefined : (FORMAT_HELP[field.format] ?? foreignName(`Format: ${field.format}`))
  return (
    <Field
      label={label}
      help={join(help, format, lengthText(field), isSecret ? undefined : unseenText(text))}
      fault={fault}
      isRequired={isRequired}
    >
      {(control) =>
        isSecret ? (
          <TextInput {...control} type="password" value={text} onChange={(event) => set(event.target.value)} />
        ) : field.format === 'date' && (text === '' || DATE.test(text)) ? (
          <TextInput {...control} type="date" value={text} onChange={(event) => set(event.target.value)} />
        ) : suggest && !isWhole ? (
          <SuggestingInput control={control} text={text} onText={set} path={path} suggest={suggest} />
        ) : field.isLong || isWhole ? (
          <TextArea {...control} rows={1} value={text} onChange={(event) => set(event.target.value)} />
        ) : (
          <TextInput {...control} value={text} onChange={(event) => set(event.target.value)} />
        )
      }
    </Field>
  )
}

/** What a browser shows in a field for dates. It shows other text as an empty field. */
const DATE = /^\d{4}-\d{2}-\d{2}$/
const MAX_LINE = 60
const MAX_LINES = 12

/** What the field itself does not show: characters without a shape, and how much there is below its edge. */
function unseenText(text: string): string | undefined {
  const visible = foreignText(text)
  const lines = text.split('\n').length
  return join(
    visible === text ? undefined : `With hidden characters: ${shortened(visible, 400)}`,
    lines > MAX_LINES || text.length > MAX_LINE * MAX_LINES ? `${counted(lines, 'line')}, ${counted(text.length, 'character')}` : undefined,
  )
}

function lengthText({ minLength, maxLength }: LeafProps<'text'>['field']): string | undefined {
  if (maxLength !== undefined && maxLength < 10_000)
    return `${minLength ? `${minLength} to ${maxLength}` : `at most ${maxLength}`} characters`
  return minLength !== undefined && minLength > 1 ? `at least ${minLength} characters` : undefined
}

/** Waits a moment after the last key before it asks. */
const PAUSE_MS = 150

function SuggestingInput({
  control,
  text,
  onText,
  path,
  suggest,
}: {
  control: ControlProps
  text: string
  onText(text: string): void
  path: Path
  suggest: Suggest
}): ReactNode {
  const [found, setFound] = useState<readonly string[]>([])
  const [isFocused, setFocused] = useState(false)
  /** The text at which the person closed the list. */
  const [closedAt, setClosedAt] = useState<string>()
  const key = JSON.stringify(path)
  useEffect(() => {
    if (!isFocused) return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      suggest(JSON.parse(key) as Path, text, stop.signal).then(
        (values) => !stop.signal.aborted && setFound(values),
        () => !stop.signal.aborted && setFound([]),
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [key, text, suggest, isFocused])
  return (
    <ComboboxProvider value={text} setValue={onText}>
      <Combobox
        {...control}
        render={<TextInput />}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        // Suggestions that come late must not open the list again.
        onKeyDown={({ key: pressed }) => setClosedAt(pressed === 'Escape' ? text : undefined)}
      />
      {found.length > 0 && closedAt !== text && (
        <ComboboxPopover gutter={4} sameWidth portal className={css.suggestions}>
          {found.slice(0, 100).map((each) => (
            <ComboboxItem key={each} value={each} className={css.suggestion}>
              {foreignName(each)}
            </ComboboxItem>
          ))}
        </ComboboxPopover>
      )}
    </ComboboxProvider>
  )
}
