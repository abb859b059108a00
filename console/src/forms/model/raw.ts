/** The value of a form and its JSON text. The text is kept as it was typed, also while it is no JSON. */

export interface FormState {
  value: unknown
  mode: 'form' | 'raw'
  /** The text of the raw mode. */
  raw: string
  /** Why the text is no JSON. */
  rawFault?: string
}

export const newForm = (value: unknown): FormState => ({ value, mode: 'form', raw: '' })

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

/** The way back to the form is closed while the text is no JSON: the form could not show what was typed. */
export function withMode(state: FormState, mode: FormState['mode']): FormState {
  if (mode === state.mode || (mode === 'form' && state.rawFault !== undefined)) return state
  return mode === 'raw'
    ? { value: state.value, mode, raw: JSON.stringify(state.value, undefined, 2) ?? '' }
    : { value: state.value, mode, raw: '' }
}
