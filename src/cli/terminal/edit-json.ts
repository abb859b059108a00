/** Edits a value as JSON: in $VISUAL or $EDITOR if set, otherwise on one line. */

import { isDeepStrictEqual } from 'node:util'
import { objectIn } from '../../base/json.ts'
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

/** Resolves with undefined when nothing was changed, and when the value is too long for this screen. @param check returns what is wrong with the edited value, or undefined */
export async function editObject(
  { io, prompts }: Editing,
  message: Showable,
  value: unknown,
  check: (edited: Record<string, unknown>) => string | undefined = () => undefined,
): Promise<Record<string, unknown> | undefined> {
  const validate = (text: string): string | undefined => {
    const parsed = objectIn(text)
    return parsed === undefined ? 'Expected a JSON object' : check(parsed)
  }
  const editor = editorOf(io)
  if (editor !== undefined) return changed(io, value, await inEditor({ io, prompts }, editor, jsonText(value, 2), validate))
  const initial = jsonText(value)
  if (!prompts.fits(initial)) {
    new Screen(io).note(safe`Too long to edit on this screen. Set EDITOR to use your editor.`)
    return undefined
  }
  return changed(io, value, objectIn(await prompts.line(message, { initial, validate })) as Record<string, unknown>)
}

/** A person who leaves the editor without saving has not said yes. */
function changed(io: Io, before: unknown, after: Record<string, unknown>): Record<string, unknown> | undefined {
  if (!isDeepStrictEqual(objectIn(jsonText(before)), after)) return after
  new Screen(io).note(safe`Nothing was changed.`)
  return undefined
}

async function inEditor(
  { io, prompts }: Editing,
  editor: string,
  before: string,
  check: (text: string) => string | undefined,
): Promise<Record<string, unknown>> {
  const screen = new Screen(io)
  for (let text = before; ; ) {
    text = await editText(editor, text, 'edit.json')
    const fault = check(text)
    if (fault === undefined) return objectIn(text) as Record<string, unknown>
    screen.note(safe`${screen.noteStyle.yellow('!')} ${fault}`)
    const next = await prompts.choose('This value cannot be used', [
      { value: 'again', label: 'Edit again' },
      { value: 'stop', label: 'Stop editing' },
    ])
    if (next === 'stop') throw new Cancelled('Editing was stopped')
  }
}
