/** The line of keys below a question, and the key that the person presses. */

import type { Io } from '../io.ts'
import { SafeText, safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { widthOf } from '../output/width.ts'
import { readKey } from './read-key.ts'

export interface KeyChoice<Key extends string> {
  key: Key
  label: string
}

const GAP = '  '

/**
 * Shows `[y] allow once  [n] deny` and waits for one of the keys. Enter is the default.
 * @throws Cancelled when the person closes the question
 */
export async function chooseByKey<Key extends string>(
  io: Io,
  choices: readonly KeyChoice<Key>[],
  byEnter: Key,
  signal: AbortSignal,
): Promise<Key> {
  const screen = new Screen(io)
  const keys = choices.map(({ key }) => key)
  try {
    const pressed = await readKey(io, keys, { signal, draw: () => screen.notePart(shownChoices(screen, choices)) })
    const key = pressed === 'enter' ? byEnter : (pressed as Key)
    screen.note(screen.noteStyle.bold(key))
    return key
  } catch (error) {
    screen.note(safe``)
    throw error
  }
}

/** A choice is never broken over two lines. */
function shownChoices(screen: Screen, choices: readonly KeyChoice<string>[]): SafeText {
  const { noteStyle: style, noteColumns = Number.POSITIVE_INFINITY } = screen
  const rows: SafeText[][] = [[]]
  let width = 0
  for (const { key, label } of choices) {
    const own = widthOf(`[${key}] ${label}${GAP}`)
    // Room for the sign behind the last choice.
    if (width > 0 && width + own + 4 > noteColumns) {
      rows.push([])
      width = 0
    }
    rows.at(-1)?.push(safe`${style.bold(`[${key}]`)} ${label}`)
    width += own
  }
  const lines = rows.map((row) => safe`  ${SafeText.join(row, GAP)}`)
  return safe`${SafeText.join(lines, safe`\n`)} ${style.dim('>')} `
}
