/** Each kind of question as a person sees it, in files that a reviewer can read. UPDATE_SCREENS=1 writes them again. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { terminalQuestions } from './support/ask-terminal.ts'
import { SCREENS, type ScreenCase } from './support/screen-cases.ts'

const folder = fileURLToPath(new URL('./screens/', import.meta.url))
const ask = terminalQuestions()

const SCREEN_BEGINS = ' the screen begins here'

/** The whole text, also what scrolled off the screen. A line shows where the screen begins. */
async function screenOf(each: ScreenCase, columns: number, rows: number): Promise<string> {
  const defaults = { reasons: [], scopes: ['once' as const], widths: [] }
  const { terminal } = ask(each.subject, { ...defaults, ...each.question }, { columns, rows })
  await terminal.until(/^ {2}\[y\][\s\S]* >$/m)
  for (const key of each.keys ?? []) await terminal.press(key)
  const lines = terminal.text().split('\n')
  const above = lines.length - rows
  const text = above > 0 ? [...lines.slice(0, above), SCREEN_BEGINS.padStart(columns, '─'), ...lines.slice(above)] : lines
  return `${text.join('\n').trim()}\n`
}

describe.each([
  [80, 24],
  [120, 40],
])('on %i columns and %i rows', (columns, rows) => {
  test.each(Object.entries(SCREENS))('the screen of a question is as in its file: %s', async (name, each) => {
    const file = join(folder, `${name}-${columns}x${rows}.txt`)
    const shown = await screenOf(each, columns, rows)
    if (process.env.UPDATE_SCREENS) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, shown)
    }
    expect(shown).toBe(readFileSync(file, 'utf8'))
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    if (each.maxLines !== undefined) expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(each.maxLines)
  })
})
