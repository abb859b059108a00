/** A value edited as JSON: in the person's editor where they have named one, else on a line. */

import { isObject } from '../../base/json.ts'
import { Cancelled } from '../../client/index.ts'
import type { Io } from '../io.ts'
import { jsonText } from '../output/json.ts'
import { type Showable, safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { editorOf, editText } from './editor.ts'
import type { Prompts } from './prompts.ts'

export interface Editing {
  io: Io
  prompts: Prompts
}

/** @param faultOf says what is wrong with what was typed, or undefined */
export async function editObject(
  { io, prompts }: Editing,
  message: Showable,
  value: unknown,
  faultOf: (edited: Record<string, unknown>) => string | undefined = () => undefined,
): Promise<Record<string, unknown>> {
  const validate = (text: string): string | undefined => {
    const parsed = objectIn(text)
    return parsed === undefined ? 'Expected a JSON object' : faultOf(parsed)
  }
  const editor = editorOf(io)
  if (editor !== undefined) return inEditor({ io, prompts }, editor, jsonText(value, 2), validate)
  const initial = jsonText(value)
  if (!prompts.fits(initial)) {
    new Screen(io).note(safe`It is too long to be edited on this screen: set EDITOR to your editor, and it is used.`)
    throw new Cancelled('It could not be edited here')
  }
  return objectIn(await prompts.line(message, { initial, validate })) as Record<string, unknown>
}

async function inEditor(
  { io, prompts }: Editing,
  editor: string,
  before: string,
  faultOf: (text: string) => string | undefined,
): Promise<Record<string, unknown>> {
  const screen = new Screen(io)
  for (let text = before; ; ) {
    text = await editText(editor, text, 'edit.json')
    const fault = faultOf(text)
    if (fault === undefined) return objectIn(text) as Record<string, unknown>
    screen.note(safe`${screen.noteStyle.yellow('!')} ${fault}`)
    const next = await prompts.choose('It cannot be used like this', [
      { value: 'again', label: 'Edit it again' },
      { value: 'stop', label: 'Leave it' },
    ])
    if (next === 'stop') throw new Cancelled('It was not edited to something that can be used')
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
