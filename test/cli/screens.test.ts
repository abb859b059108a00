/** Each kind of question as a person sees it, in files that a reviewer can read. UPDATE_SCREENS=1 writes them again. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { OPEN_LIST, questionsTogether, terminalQuestions, wholeQuestion } from './support/ask-terminal.ts'
import { SCREENS, type ScreenCase, TOGETHER, type TogetherCase } from './support/screen-cases.ts'
import type { TerminalProcess } from './support/terminal.ts'

const folder = fileURLToPath(new URL('./screens/', import.meta.url))
const ask = terminalQuestions()
const askTogether = questionsTogether()

const SCREEN_BEGINS = ' the screen begins here'

/** The whole text, also what scrolled off the screen. A line shows where the screen begins. */
async function screenOf(each: ScreenCase, columns: number, rows: number): Promise<string> {
  const defaults = { reasons: [], scopes: ['once' as const], widths: [] }
  const { terminal } = ask(each.subject, { ...defaults, ...each.question }, { columns, rows })
  // A form begins with its first field.
  await terminal.until(each.subject.kind === 'form' ? /◆/ : /^ {2}\[y\][\s\S]* >$/m)
  return pressed(terminal, each.keys, columns, rows)
}

async function togetherScreenOf({ questions, keys }: TogetherCase, columns: number, rows: number): Promise<string> {
  const defaults = { reasons: [], scopes: ['once' as const], widths: [] }
  const whole = questions.map(({ subject, ...question }, i) => wholeQuestion(subject, { ...defaults, id: `q${i}`, ...question }))
  const { terminal } = askTogether(whole, { columns, rows })
  await terminal.until(OPEN_LIST)
  return pressed(terminal, keys, columns, rows)
}

async function pressed(terminal: TerminalProcess, keys: readonly string[] = [], columns: number, rows: number): Promise<string> {
  for (const key of keys) await terminal.press(key)
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
    const shown = await screenOf(each, columns, rows)
    check(name, shown)
    if (each.maxLines !== undefined) expect(shown.trimEnd().split('\n').length).toBeLessThanOrEqual(each.maxLines)
  })

  test.each(Object.entries(TOGETHER))('the screen of several questions is as in its file: %s', async (name, each) => {
    check(name, await togetherScreenOf(each, columns, rows))
  })

  function check(name: string, shown: string): void {
    const file = join(folder, `${name}-${columns}x${rows}.txt`)
    if (process.env.UPDATE_SCREENS) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, shown)
    }
    expect(shown).toBe(readFileSync(file, 'utf8'))
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
  }
})
