/** One question, asked at a terminal and in a real Chromium at the same time: the first answer counts, and closes it in the other place. */

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CLI } from '../cli/support/cli.ts'
import { LINK } from '../cli/support/started.ts'
import { answerQuestion, openQuestion, startTerminal, typeLine } from '../cli/support/terminal.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { afterQuiet, openWindow } from './support/windows.ts'

const chromium = chromiumOfFile()
const newFolder = temporaryFolders()

test('an answer at the terminal closes the card of the page, and the other way round', async () => {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const terminal = startTerminal([CLI], { cwd: home, columns: 120, rows: 40, env })
  await terminal.until(LINK)
  const window = await openWindow(await chromium(), LINK.exec(terminal.text())?.[0] ?? '')
  onTestFinished(() => window.close())
  const { page } = window
  await window.open('/waiting')
  const card = page.getByRole('article', { name: /notes\/add/ })
  const allow = card.getByRole('button', { name: 'Allow once' })

  await typeLine(terminal, 'add a note with title="Bread" text="Rye"')
  await allow.waitFor({ timeout: 20_000 })
  // The page shows it for a moment only.
  const ended = page.evaluate(`new Promise((resolve) => {
    const look = () => { if (document.body.innerText.includes('The question was answered elsewhere')) resolve() }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  })`)
  await answerQuestion(terminal, /call notes\/add/i, 'y')
  await ended
  await expect.poll(() => allow.count(), { message: 'it cannot be answered here any more' }).toBe(0)
  await page.getByText('Nothing waits for you').waitFor()
  await terminal.until(/^ +title +Bread$/m)

  await typeLine(terminal, 'add a note with title="Milk" text="Oat"')
  await allow.waitFor({ timeout: 20_000 })
  await expect.poll(() => openQuestion(terminal), { timeout: 20_000 }).toMatch(/call notes\/add/i)
  await afterQuiet(page)
  await allow.click()
  await terminal.until('The question was answered elsewhere.')
  await terminal.until(/^ +title +Milk$/m)
  // Typing goes on.
  await typeLine(terminal, 'call notes__list')
  await terminal.until(/^total +2$/m)
  expect(window.problems).toEqual([])
}, 120_000)
