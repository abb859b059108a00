/** The state of a form from a schema: its value, its raw text and its issues. */

import { useCallback, useEffect, useMemo, useState } from 'react'
import { initialValue } from './model/initial.ts'
import { type FormState, newForm, withMode, withRaw, withValue } from './model/raw.ts'
import type { Schema } from './model/schema.ts'
import { createValidator, type Issues, NO_ISSUES, type Validator } from './validate.ts'

export interface SchemaFormState {
  schema: Schema
  state: FormState
  /** The value as JSON. */
  value: unknown
  setValue(value: unknown): void
  setRaw(raw: string): void
  setMode(mode: FormState['mode']): void
  /** Back to the defaults of the schema, or to another value. */
  reset(value?: unknown): void
  /** What is wrong with the value, also before it is shown. */
  issues: Issues
  /** The issues to show: none before the first attempt to send. */
  shownIssues: Issues
  /** Why the schema cannot be checked here. */
  schemaFault: string | undefined
  /** Shows the issues. Returns true if the value is valid and can be sent. */
  check(): boolean
}

/** @param initial begins with this value in place of the schema's defaults */
export function useSchemaForm(schema: Schema, initial?: unknown): SchemaFormState {
  const [state, setState] = useState<FormState>(() => newForm(initial ?? initialValue(schema)))
  const [validator, setValidator] = useState<Validator>()
  const [isShowing, setShowing] = useState(false)
  useEffect(() => {
    let isCurrent = true
    void createValidator(schema).then((made) => isCurrent && setValidator(made))
    return () => {
      isCurrent = false
    }
  }, [schema])
  const issues = useMemo(() => check(validator, state.value), [validator, state.value])
  const setValue = useCallback((value: unknown) => setState((before) => withValue(before, value)), [])
  const setRaw = useCallback((raw: string) => setState((before) => withRaw(before, raw)), [])
  const setMode = useCallback((mode: FormState['mode']) => setState((before) => withMode(before, mode)), [])
  const reset = useCallback(
    (value?: unknown) => {
      setShowing(false)
      setState(newForm(value ?? initialValue(schema)))
    },
    [schema],
  )
  return {
    schema,
    state,
    value: state.value,
    setValue,
    setRaw,
    setMode,
    reset,
    issues,
    shownIssues: isShowing ? issues : NO_ISSUES,
    schemaFault: validator?.fault,
    check: () => {
      setShowing(true)
      return state.rawFault === undefined && issues.size === 0
    },
  }
}

/** A value can be too much for the limits of the validator. Then the server checks alone. */
function check(validator: Validator | undefined, value: unknown): Issues {
  try {
    return validator?.check(value) ?? NO_ISSUES
  } catch {
    return NO_ISSUES
  }
}
