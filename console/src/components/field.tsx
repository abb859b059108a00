/** A labelled control with its help and its fault, and the plain controls. */

import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'
import { classes } from './classes.ts'
import css from './field.module.css'

export interface FieldProps {
  label: ReactNode
  /** What to enter. */
  help?: ReactNode
  /** What is wrong with the value. */
  fault?: string | undefined
  isRequired?: boolean
  /** The label is for screen readers only. */
  isLabelHidden?: boolean
  /** Beside the label: a type, a badge. */
  aside?: ReactNode
  className?: string
  /** Gets what the control needs: its id and the texts that describe it. */
  children(control: ControlProps): ReactNode
}

export interface ControlProps {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: true
  'aria-required'?: true
}

export function Field({
  label,
  help,
  fault,
  isRequired = false,
  isLabelHidden = false,
  aside,
  className,
  children,
}: FieldProps): ReactNode {
  const id = useId()
  const described = [help ? `${id}-help` : '', fault ? `${id}-fault` : ''].filter(Boolean).join(' ')
  return (
    <div className={classes(css.field, className)}>
      <div className={isLabelHidden ? 'sr-only' : css.top}>
        <label htmlFor={id} className={css.label}>
          {label}
          {isRequired && <span className={css.required}> required</span>}
        </label>
        {aside}
      </div>
      {children({
        id,
        ...(described !== '' && { 'aria-describedby': described }),
        ...(fault && { 'aria-invalid': true as const }),
        ...(isRequired && { 'aria-required': true as const }),
      })}
      {help && (
        <div id={`${id}-help`} className={css.help}>
          {help}
        </div>
      )}
      {fault && (
        <div id={`${id}-fault`} className={css.fault}>
          <span aria-hidden="true">✕ </span>
          {fault}
        </div>
      )}
    </div>
  )
}

export const TextInput = ({ className, ...rest }: InputHTMLAttributes<HTMLInputElement>): ReactNode => (
  <input type="text" autoComplete="off" spellCheck={false} {...rest} className={classes(css.control, className)} />
)

/** It grows with its text. `rows`: how high it is when it is empty. Default: 4. */
export const TextArea = ({
  className,
  isCode = false,
  rows = 4,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { isCode?: boolean }): ReactNode => (
  <textarea
    {...rest}
    rows={rows}
    spellCheck={!isCode}
    className={classes(css.control, css.area, rows > 1 && css.tall, rows > 7 && css.taller, isCode && css.code, className)}
  />
)

export interface Choice<Value extends string = string> {
  value: Value
  label: string
}

export function Select<Value extends string>({
  choices,
  value,
  onValue,
  className,
  ...rest
}: Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange'> & {
  choices: readonly Choice<Value>[]
  value: Value
  onValue(value: Value): void
}): ReactNode {
  return (
    <select
      {...rest}
      className={classes(css.control, css.select, className)}
      value={value}
      onChange={(event) => onValue(event.target.value as Value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  )
}

export function Checkbox({
  label,
  help,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { label: ReactNode; help?: ReactNode }): ReactNode {
  return (
    <label className={css.check}>
      <input type="checkbox" {...rest} />
      <span>
        {label}
        {help && <span className={css.help}>{help}</span>}
      </span>
    </label>
  )
}

/** On or off, at once. */
export function Switch({
  label,
  isOn,
  onToggle,
  isLabelHidden = false,
  disabled,
}: {
  label: string
  isOn: boolean
  onToggle(isOn: boolean): void
  isLabelHidden?: boolean
  disabled?: boolean
}): ReactNode {
  return (
    <label className={css.switch}>
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onToggle(event.target.checked)}
      />
      <span className={isLabelHidden ? 'sr-only' : undefined}>{label}</span>
    </label>
  )
}
