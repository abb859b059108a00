/** The value of a form and its JSON text. The text is kept as it was typed, also while it is no JSON. */

export interface FormState {
  value: unknown
  mode: 'form' | 'raw'
  /** The text of the raw mode. */
  raw: string
  /** Why the text is no JSON. */
  rawFault?: string
}

/** Values that a form draws as fields. A form with more values opens as JSON, because its fields would take long to draw. */
export const MAX_VALUES = 1_000

/** Whether a value has more parts than a form draws. */
export function isTooMuch(value: unknown): boolean {
  let left = MAX_VALUES
  const count = (each: unknown): void => {
    if (--left < 0 || typeof each !== 'object' || each === null) return
    for (const inner of Object.values(each)) {
      count(inner)
      if (left < 0) return
    }
  }
  count(value)
  return left < 0
}

export const newForm = (value: unknown): FormState => {
  const form: FormState = { value, mode: 'form', raw: '' }
  return isTooMuch(value) ? withMode(form, 'raw') : form
}

export const withValue = (state: FormState, value: unknown): FormState => ({ ...state, value })

/** The value follows the text as long as it is JSON. */
export function withRaw(state: FormState, raw: string): FormState {
  if (raw.trim() === '') return { value: undefined, mode: 'raw', raw }
  try {
    return { value: JSON.parse(raw), mode: 'raw', raw }
  } catch (error) {
    return { value: state.value, mode: 'raw', raw, rawFault: `This is not JSON: ${(error as Error).message}` }
  }
}

/** The way back to the form is closed while the text is no JSON, or too much for fields: the form could not show it. */
export function withMode(state: FormState, mode: FormState['mode']): FormState {
  if (mode === state.mode || (mode === 'form' && !canBeForm(state))) return state
  return mode === 'raw'
    ? { value: state.value, mode, raw: JSON.stringify(state.value, undefined, 2) ?? '' }
    : { value: state.value, mode, raw: '' }
}

const canBeForm = ({ value, rawFault }: FormState): boolean => rawFault === undefined && !isTooMuch(value)
